#!/bin/bash
# Namespaces are deleted with live queue pairs (T55), and the module is unloaded
# while they live.
. "$(dirname "$0")/../lib-verbs.sh"

rounds=$(by_kernel 6 4 4)

for ((i = 0; i < rounds; i++)); do
	topo 1500
	ip netns exec B vt_xfer -d "$DEV_B" -g "$IP_B" -s >/tmp/server 2>&1 &
	server=$!
	ip netns exec A vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_B" -n 65536 -T $((1 << 30)) \
		-q 4 -w 3000 >/tmp/client 2>&1 &
	client=$!
	wait_until 30 sent "$DEV_A" 100 ||
		fail "no traffic: $(cat /tmp/client /tmp/server)"
	# another device comes at the same moment
	(
		ip link add dummy9 type dummy
		ip addr add 10.9.9.9/24 dev dummy9
		ip link set dummy9 up
		ibctl dev add d9 netdev dummy9
	) >/dev/null 2>&1 &
	late=$!
	# the programs keep the namespace; their interface goes with the devices
	if ((i % 2)); then
		run timeout 10 ip -n A link set va netns 1
		run timeout 10 ip link del va
	else
		kill -9 "$client"
		run timeout 10 ip netns del A
	fi
	wait "$late"
	wait "$client"
	wait "$server"
	wait_until 10 gone "$DEV_A" || fail "$DEV_A stays"
	ibctl dev del d9
	ip link del dummy9
	((i % 2)) && run ip netns del A
	run ip netns del B
	wait_until 10 no_devices || fail "round $i: $(ls "$HW") stays"
done
ok "$rounds namespaces deleted with live queue pairs"
topo 1500
unload_now
ok 'unloaded with devices in two namespaces'
