#!/bin/bash
# IP over InfiniBand between two namespaces, datagram and connected mode, through
# a switch; rping over it, and what a pulled cable and a restarted SM leave.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

star 2
osm_start shca0 --sweep 2
active shca0 shca1
run modprobe ib_ipoib
run ip netns add B
I0=ib0 I1=ib1
run ip link set $I1 netns B
run ip addr add 10.9.0.1/24 dev $I0
run ip -n B addr add 10.9.0.2/24 dev $I1
run ip link set $I0 up
run ip -n B link set $I1 up
run ip -n B link set lo up

carrier() { $1 ip link show "$2" | grep -q LOWER_UP; }
both_up() { carrier '' $I0 && carrier B $I1; }
wait_until 30 both_up || {
	osm_log
	ip link
	ip -n B link
	fail 'IPoIB has no carrier'
}
answers() { ping -c 1 -W 1 10.9.0.2 >/dev/null; }
wait_until 20 answers || fail 'no traffic'
pings command 3 10.9.0.2
whole() { pings command 3 -M 'do' -s "$1" 10.9.0.2; } # not to be fragmented
whole 1900
pings command 3 -s 20000 10.9.0.2
ok 'datagram mode'

B timeout 90 iperf3 -s -1 >/tmp/iperf3.server 2>&1 &
server=$!
wait_until 10 listening 5201 B || fail "iperf3: $(cat /tmp/iperf3.server)"
timeout 60 iperf3 -c 10.9.0.2 -t 2 >/tmp/iperf3 2>&1 || fail "iperf3: $(cat /tmp/iperf3)"
wait $server || fail "iperf3: $(cat /tmp/iperf3.server)"
grep receiver /tmp/iperf3 || fail "iperf3 says nothing of what arrived: $(cat /tmp/iperf3)"
ok 'TCP'

rping_pair B command 10.9.0.2 -C 5 -v
ok 'rping over IPoIB addresses'

run ibctl cable del sw0/2
wait_until 10 eval '! carrier B $I1' || fail 'the cable is out and IPoIB has a carrier'
run ibctl cable add sw0/2 shca1/1
wait_until 30 both_up || fail 'no carrier after the cable was out'
wait_until 20 answers || fail 'no traffic after the cable was out'
pings command 3 10.9.0.2
ok 'a pulled cable'

osm_stop shca0 KILL
pings command 3 10.9.0.2
osm_start shca0 --sweep 2
wait_until 60 eval 'on shca1 sminfo >/dev/null 2>&1' || fail 'no SM after a restart'
wait_until 20 answers || fail 'no traffic after a restart of the SM'
ok 'traffic without and with a new subnet manager'

# connected INTERFACE [NETNS]
connected() {
	local at=''
	[[ -z ${2:-} ]] || at="-n $2"
	run ip $at link set "$1" down
	run ip $at link set "$1" type ipoib mode connected
	run ip $at link set "$1" mtu 65520
	run ip $at link set "$1" up
}
connected $I0
connected $I1 B
wait_until 30 both_up || fail 'no carrier in connected mode'
wait_until 20 answers || fail 'no traffic in connected mode'
whole 40000
ok 'connected mode, MTU 65520'

run ip netns del B
run modprobe -r ib_ipoib
sleep 1
run ibctl dev del shca1
run ibctl dev del shca0
osm_stop shca0 KILL
