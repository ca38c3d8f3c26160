#!/bin/bash
# IP over InfiniBand between namespaces behind a switch, in datagram and in
# connected mode: every size of ping to 65000 bytes, IPv6, TCP, UDP, multicast,
# also to two at once, a child interface on another P_Key, and ethtool.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

star 3
mkdir -p "$OSM_DIR"
echo 'Default=0x7fff,ipoib,mtu=5:ALL=full; Lab=0x1,ipoib:ALL=full;' >"$OSM_DIR/partitions"
osm_start shca0 --sweep 2 --Pconfig "$OSM_DIR/partitions"
active shca0 shca1 shca2
run modprobe ib_ipoib
i=0
for ns in A B C; do
	run ip netns add $ns
	run ip link set ib$i netns $ns
	run ip -n $ns link set lo up
	i=$((i + 1))
done
run ip -n C link set ib2 up

# number NETNS INTERFACE NET: .1 and .2, IPv4 and IPv6, up
number() {
	local n=1
	[[ $1 == A ]] || n=2
	run ip -n "$1" addr add "10.$3.0.$n/24" dev "$2"
	run ip -n "$1" addr add "fd00:$3::$n/64" dev "$2" nodad
	run ip -n "$1" link set "$2" up
}
# A receiver that has to wait for its CPU is no fault of the link.
run sysctl -qw net.core.rmem_max=8388608 net.core.wmem_max=8388608
number A ib0 9
number B ib1 9
echoes() { A ping -c 1 -W 1 "$1" >/dev/null; }
wait_until 30 echoes 10.9.0.2 || {
	osm_log
	A ip addr
	B ip addr
	fail 'no traffic'
}
A ip link show ib0 | grep -q 'mtu 4092' || fail "the MTU is not the partition's: $(A ip link show ib0)"
[[ $(A ethtool -i ib0 | sed -n 's/^driver: //p') == 'ib_ipoib' ]] || fail 'ethtool -i: driver'
A ethtool -i ib0 | grep -q '^bus-info: .' || fail 'ethtool -i: bus-info'
ok 'MTU 4092, ethtool -i'

# all_sizes ADDRESS: whole and in fragments
all_sizes() {
	local size
	for size in 56 57 1000 1472 2016 2017 4064 4065 8192 16384 32768 65000; do
		pings A 2 -s $size "$1"
	done
	ok "ping of 56 to 65000 bytes to $1"
}

tcp_and_udp() { # WHAT
	B iperf3 -s -1 >/dev/null 2>&1 &
	wait_until 10 listening 5201 B
	A timeout 60 iperf3 -c 10.9.0.2 -t 2 -J >/tmp/iperf || fail "iperf3 TCP, $1"
	jq -e '.end.sum_received.bytes > 1000000' /tmp/iperf >/dev/null || fail "iperf3 TCP, $1: $(jq .end /tmp/iperf)"
	wait_until 10 eval '! listening 5201 B'
	B iperf3 -s -1 >/dev/null 2>&1 &
	wait_until 10 listening 5201 B
	A timeout 60 iperf3 -c 10.9.0.2 -u -b 5M -w 4M -l 1400 -t 2 -J >/tmp/iperf || fail "iperf3 UDP, $1"
	jq -e '.end.sum | .packets > 100 and .lost_percent < 2' /tmp/iperf >/dev/null ||
		fail "iperf3 UDP, $1: $(jq -c ".error, .end.sum" /tmp/iperf)"
	ok "TCP and UDP, $1"
}

# multicast GROUP INTERFACE-IN-A INTERFACE-IN-B NET
multicast() {
	rm -f /tmp/got
	# takes one datagram and ends
	B timeout 40 socat -u "UDP4-RECVFROM:6000,ip-add-membership=$1:$3" CREATE:/tmp/got &
	local socat=$!
	wait_until 20 eval '
		A bash -c "echo to the group | socat -u - UDP4-DATAGRAM:'"$1"':6000,ip-multicast-if=10.'"$4"'.0.1"
		[[ -s /tmp/got ]]' || fail "nothing arrives at $1"
	wait $socat || fail "socat ended with $?"
	grep -q 'to the group' /tmp/got || fail "at $1 arrives: $(cat /tmp/got)"
	ok "multicast to $1"
}

all_sizes 10.9.0.2
all_sizes fd00:9::2

# The switch makes two of what goes to all nodes: both others answer each of three.
link_local() { ip -n "$1" -6 -o addr show dev "$2" scope link | grep -o 'fe80::[^/]*'; }
NEAR="$(link_local B ib1) $(link_local C ib2)"
to_all() { # SECONDS: with -c, which counts its own answers, it would not wait for others
	A ping -n -w "$1" "ff02::1%ib0" >/tmp/ping
	for near in $NEAR; do
		for n in 1 2 3; do
			(($(grep -c "from $near%ib0: icmp_seq=$n " /tmp/ping) == 1)) || return 1
		done
	done
}
wait_until 20 to_all 4 || fail "not both of $NEAR answer at ff02::1: $(cat /tmp/ping)"
to_all 6 || fail "not each of three is answered by both of $NEAR: $(cat /tmp/ping)"
ok 'IPv6 to all nodes, who are two'
multicast 239.1.2.3 ib0 ib1 9
timeout 20 saquery -C shca0 -P 1 -g | grep -qi 'ff12:401b:ffff.*:f01:203' || fail 'the SM does not know the group'
tcp_and_udp 'datagram mode'

# The other partition's traffic has its own P_Key, and its own broadcast group.
# those in RESET, which are of no port yet, too
qps() { rdma -j resource show qp link shca0 | jq length; }
alone=$(qps)
run ip -n A link add link ib0 name ib0.8001 type ipoib pkey 0x8001
(($(qps) == alone + 1)) || fail "$alone queue pairs without the child, $(qps) with it"
run ip -n B link add link ib1 name ib1.8001 type ipoib pkey 0x8001
number A ib0.8001 8
number B ib1.8001 8
wait_until 30 echoes 10.8.0.2 || fail 'no traffic on the child interface'
ip -n A -d link show ib0.8001 | grep -q 'pkey *0x8001' || fail "the child's P_Key"
A ip link show ib0.8001 | grep -q 'mtu 2044' || fail "not the MTU of a partition that names none: $(A ip link show ib0.8001)"
all_sizes 10.8.0.2
multicast 239.1.2.4 ib0.8001 ib1.8001 8
# It is not the parent that answers: ARP asks the group of the child alone.
run ip -n B link set ib1.8001 down
refused A ping -c 2 -W 1 -I ib0.8001 10.8.0.2
run ip -n B link set ib1.8001 up
wait_until 30 echoes 10.8.0.2 || fail 'the child interface does not come back'
run ip -n A link del ib0.8001
as_before() { (($(qps) == alone)); }
wait_until 5 as_before || fail "$alone queue pairs before there was a child, $(qps) after it"
pings A 3 10.9.0.2
ok 'a child interface on another P_Key, and what is left of it' # B's goes with its namespace

connected() { # NETNS INTERFACE
	run ip -n "$1" link set "$2" down
	run ip -n "$1" link set "$2" type ipoib mode connected
	run ip -n "$1" link set "$2" mtu 65520
	run ip -n "$1" addr replace "fd00:9::${3}/64" dev "$2" nodad
	run ip -n "$1" link set "$2" up
}
connected A ib0 1
connected B ib1 2
wait_until 30 echoes 10.9.0.2 || fail 'no traffic in connected mode'
all_sizes 10.9.0.2
all_sizes fd00:9::2
multicast 239.1.2.5 ib0 ib1 9
tcp_and_udp 'connected mode'

for ns in A B C; do
	run ip netns del $ns
done
run modprobe -r ib_ipoib
osm_stop shca0 KILL
