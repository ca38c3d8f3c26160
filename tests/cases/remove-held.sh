#!/bin/bash
# The device goes, and the module, while a program has it open and its rings
# mapped. The program polls, posts, destroys and exits as if nothing were.
. "$(dirname "$0")/../lib-verbs.sh"

topo_netns 1500
for how in del unload netdev rdma; do
	dev_up
	hold "$DEV_A" -a
	case $how in
	del)
		run timeout 10 ibctl dev del "$DEV_A"
		run timeout 10 ibctl dev del "$DEV_B"
		;;
	unload)
		run timeout 10 ibctl dev del "$DEV_A"
		run timeout 10 ibctl dev del "$DEV_B"
		unload_now
		;;
	rdma)
		run timeout 10 rdma link del "$DEV_A"
		run timeout 10 rdma link del "$DEV_B"
		;;
	netdev)
		run timeout 10 ip -n A link del va
		wait_until 10 no_devices || fail "devices stay: $(ls "$HW")"
		;;
	esac
	[[ -e $HW/$DEV_A ]] && fail "$DEV_A is still there"
	let_go
	if [[ $how == netdev ]]; then
		run ip link add va netns A type veth peer name vb netns B
		netns_end A va 1
		netns_end B vb 2
	fi
	ok "$how, with the device open"
done
dev_up
hold "$DEV_A" -a
run ip netns del A
wait_until 10 no_devices || fail "devices stay: $(ls "$HW")"
unload_now
let_go
ok 'namespace deleted, module unloaded, with the device open'
