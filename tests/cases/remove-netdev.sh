#!/bin/bash
# The network interface vanishes (T02): raced against "dev del", and under
# traffic.
. "$(dirname "$0")/../lib-verbs.sh"

race=$(by_kernel 30 30 10) busy=$(by_kernel 6 6 3)

run modprobe -a softhca tun
for ((i = 0; i < race; i++)); do
	run ip tuntap add mode tap tap0
	run ip addr add 10.1.1.1/24 dev tap0
	run ip link set tap0 up
	run ibctl dev add d0 netdev tap0
	(ibctl dev del d0 >/dev/null 2>&1 &)
	run ip link del tap0
	wait_until 10 no_devices || fail "round $i: $(ls "$HW") stays"
done
wait_until 5 port_free || fail 'port 4791 stays open'
ok "$race interfaces deleted at the same time as their device"

topo_netns 1500
for ((i = 0; i < busy; i++)); do
	dev_up
	ip netns exec B vt_xfer -d "$DEV_B" -g "$IP_B" -s >/tmp/server 2>&1 &
	server=$!
	ip netns exec A vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_B" -n 65536 -T $((1 << 30)) \
		-q 4 -w 3000 >/tmp/client 2>&1 &
	client=$!
	wait_until 30 sent "$DEV_A" 100 ||
		fail "no traffic: $(cat /tmp/client /tmp/server)"
	case $((i % 3)) in
	0) run timeout 10 ip -n A link del va ;;
	1) run timeout 10 ip -n B link del vb ;;
	2)
		run A ip link set va down
		run timeout 10 ip -n B link del vb
		;;
	esac
	wait_until 10 no_devices || fail "round $i: $(ls "$HW") stays"
	wait "$client" && fail 'the client has not noticed'
	wait "$server" && fail 'the server has not noticed'
	run ip link add va netns A type veth peer name vb netns B
	netns_end A va 1
	netns_end B vb 2
done
unload_now
ok "$busy interfaces deleted under traffic"
