#!/bin/bash
# Cables to another host, here to another namespace, over IPv4 and IPv6: what each
# end knows of the other, a peer that goes and comes, silence and a wire that is
# too slow; hostile datagrams; cables, devices and a namespace that go under
# traffic. What such cables carry is in ib-remote-switch.sh.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

topo_netns 1500
run ip -n B addr add 10.0.0.3/24 dev vb
run ibctl switch add sw0 ports 4
for i in 0 1 2; do
	run ibctl dev add "shca$i" link ib
done
run ibctl cable add shca0/1 sw0/1

udp_open() { [[ -n $($1 ss -Hlun 'sport = :47911') ]]; } # NETNS
udp_open A && fail 'the UDP port is open before there is a cable'
run A ibctl cable add sw0/2 remote "$IP_B" id 7
udp_open A || fail 'a cable to another host does not listen'
# of CABLE-END FIELD: of "ibctl cable list"
of() { ibctl -j cable list | jq -r --arg a "$1" ".[] | select(.a == \$a) | $2"; }
[[ $(of sw0/2 .peer_state) == silent ]] || fail 'a peer that is not there is not silent'
refused A ibctl cable add sw0/3 remote "$IP_B" id 7
refused A ibctl cable add sw0/3 remote 127.0.0.1 id 8
run A ibctl cable add sw0/3 remote "$IP6_B" id 7
port_is shca1 DOWN || fail 'half a cable is up'
run B ibctl cable add shca1/1 remote "$IP_A" id 7
run B ibctl cable add shca2/1 remote "$IP6_A" id 7
sw_port_is() { [[ $(ibctl -j switch show sw0 | jq -r ".ports[$1 - 1].state") == "$2" ]]; }
wait_until 10 ports_are INIT shca1 shca2 || {
	ibctl -j cable list
	fail 'the hosts do not hear each other'
}
wait_until 5 eval 'sw_port_is 2 init && sw_port_is 3 init' || fail 'a port of the switch is not up'
[[ $(of sw0/2 .peer_state) == ready ]] || fail 'the peer is not ready'
osm_start shca0 --sweep 1
active shca0 shca1 shca2
run ibctl cable list
ok 'OpenSM brings up ports over UDP, IPv4 and IPv6'

run modprobe ib_ipoib
run ip netns add C
run ip link set ib1 netns C
run ip addr add 10.9.0.1/24 dev ib0
run ip -n C addr add 10.9.0.2/24 dev ib1
run ip link set ib0 up
run ip -n C link set ib1 up
has_carrier() { ip link show ib0 | grep -q LOWER_UP && ip -n C link show ib1 | grep -q LOWER_UP; }
wait_until 30 has_carrier || {
	osm_log
	fail 'IPoIB has no carrier'
}
answers() { ping -c 1 -W 1 10.9.0.2 >/dev/null; }
wait_until 30 answers || fail 'no traffic'
pings command 3 10.9.0.2
pings command 3 -M 'do' -s 1900 10.9.0.2
pings command 3 -s 20000 10.9.0.2
ok 'IPoIB over UDP'

run ip -n B link set vb down
wait_until 10 ports_are DOWN shca1 shca2 || fail 'the other host is silent and the ports are up'
wait_until 10 eval 'sw_port_is 2 down && sw_port_is 3 down' || fail 'the switch does not miss its peer'
port_is shca0 ACTIVE || fail 'shca0 went down with the others'
run ip -n B link set vb up
run ip -n B addr replace fd00::2/64 dev vb nodad
active shca1 shca2
wait_until 30 answers || fail 'no traffic after the peer was away'
ok 'a peer that was away'

SW=$(ibctl -j switch show sw0 | jq .lid)
bounced() { (($(counter shca1 link_downed) > downs)); }
# OpenSM hears of the switch's end alone, so both must have been down before that
# is up: several times, since it is a race.
for _ in 1 2 3 4 5; do
	downs=$(counter shca1 link_downed)
	run on shca0 ibportstate "$SW" 2 down >/tmp/portstate
	wait_until 10 bounced || fail 'the peer does not notice that the link bounced'
	active shca1
done
ok 'a link that came back at once'

# peers_are OF-SHCA1 OF-SW0/2: what each end of this cable knows of the other
peers_are() { [[ "$(of shca1/1 .peer_state) $(of sw0/2 .peer_state)" == "$1 $2" ]]; }
peers_become() {
	wait_until 10 peers_are "$1" "$2" || fail "the peers are not $1 and $2: $(ibctl -j cable list)"
}
peers_become ready ready
run on shca0 ibportstate "$SW" 2 disable >/tmp/portstate
peers_become disabled ready
wait_until 10 port_is shca1 DOWN || fail 'the other port is disabled and this one is up'
run on shca0 ibportstate "$SW" 2 enable >/tmp/portstate
active shca1
peers_become ready ready
ok 'a disabled port of the other host'

# Of the peer nothing is heard any more, neither hellos, of 24 bytes with the UDP
# header, nor packets; it still hears us.
begin=${EPOCHREALTIME/./}
run B nft -f - <<-'END'
	table ip silence {
		chain input {
			type filter hook input priority 0
			udp dport 47911 udp length 24 counter
			udp dport 47911 drop
		}
	}
END
missed() { B nft list table ip silence | sed -n 's/.*counter packets \([0-9]*\) .*/\1/p'; }
limit=$((SECONDS + 60)) up=0
while n=$(missed) && ! port_is shca1 DOWN; do
	up=$n # although so many have not come
	((SECONDS < limit)) || fail 'the peer is silent and the port is up'
done
# Two seconds: the last hello was half a second old at the most. That it is not more is
# seen by the peer's clock, two hellos a second, since a slow host is slow for both.
took=$(((${EPOCHREALTIME/./} - begin) / 1000))
((took >= 1300)) || fail "silence is noticed after $took ms already"
((up <= 6)) || fail "$up hellos have not come and the port is up"
peers_become silent deaf
wait_until 10 sw_port_is 2 down || fail 'the peer is deaf and the port is up'
port_is shca2 ACTIVE || fail 'shca2 went down with the other'
run B nft delete table ip silence
active shca1
peers_become ready ready
ok "silence, noticed after $took ms and $up hellos, and a deaf peer"

# On a wire that is too slow hellos are lost among data. shca2 has nothing but
# hellos, and its link goes; what arrives at shca1 is heard as well, and its link
# stays. The subnet manager, whose packets are lost too, must not meddle.
wait_until 30 answers || fail 'no traffic after silence'
kill -STOP "$(osm_pid shca0)"
downs=$(counter shca1 link_downed)
run A tc qdisc add dev va root netem rate 128kbit limit 5
pids=()
for _ in 1 2 3 4; do
	ping -q -f -w 60 -s 1200 10.9.0.2 >/dev/null 2>&1 &
	pids+=($!)
done
wait_until 30 eval 'port_is shca2 DOWN || bounced' ||
	fail "hellos arrive, this shows nothing: $(A tc -s qdisc show dev va)"
wait_until 10 bounced && fail 'packets arrive, and their link goes down'
port_is shca1 ACTIVE || fail 'packets arrive, and shca1 is not active'
kill "${pids[@]}"
run A tc qdisc del dev va root
kill -CONT "$(osm_pid shca0)"
active shca1 shca2
wait_until 60 answers || fail 'no traffic after the wire was too slow'
ok 'a wire that is too slow'

LID=$(lid_of shca0)
# hostile SOURCE KIND...: sends them; $grown is "STRANGERS MALFORMED" of sw0/2
hostile() {
	local strangers malformed
	strangers=$(of sw0/2 .counters.strangers) malformed=$(of sw0/2 .counters.malformed)
	run B python3 "$(dirname "$0")/../fuzz/ib-shim.py" "$1" "$IP_A" 7 "$LID" "${@:2}"
	grown="$(($(of sw0/2 .counters.strangers) - strangers)) $(($(of sw0/2 .counters.malformed) - malformed))"
}
bad=(version kind flags short long hops0 hops65 hello hellolen)
hostile "$IP_B" "${bad[@]}"
[[ $grown == "0 ${#bad[@]}" ]] || fail "${#bad[@]} bad datagrams of the peer grew the counters by $grown"
hostile "$IP_B" none id port
[[ $grown == '3 0' ]] || fail "3 datagrams of no cable grew the counters by $grown"
hostile 10.0.0.3 "${bad[@]}" hops63
[[ $grown == '10 0' ]] || fail "10 datagrams of a stranger grew the counters by $grown"
hostile "$IP_B" fuzz fuzz
echo "200 odd datagrams: $grown"
dropped() { awk '{ n += $1 } END { print n }' /sys/class/infiniband/shca0/ports/1/hw_counters/rx_drop_*; }
discards() { on shca0 perfquery "$SW" 1 | sed -n 's/^PortXmitDiscards:\.*//p'; }
drops=$(dropped) discarded=$(discards)
hostile "$IP_B" hops63 hops64
passed() { (($(dropped) == drops + 1)); }
wait_until 5 passed || fail 'a packet that passed 63 cables does not get through the next, or one that passed 64 does'
(($(discards) == discarded + 1)) || fail 'the switch does not count a packet that passed 64 cables'
port_is shca1 ACTIVE || fail 'hostile datagrams took the link down'
pings command 3 10.9.0.2
ok 'strangers, another version, truncated datagrams, too many hops'

flood() { ping -q -f -s 1400 10.9.0.2 >/dev/null 2>&1 & }
flood
flooding=$!
for _ in 1 2 3; do
	run ibctl cable del sw0/2
	wait_until 3 port_is shca1 DOWN || fail 'the peer is not told that the cable was pulled'
	run A ibctl cable add sw0/2 remote "$IP_B" id 7
	wait_until 10 port_is shca1 INIT || active shca1
done
active shca1
wait_until 30 answers || fail 'no traffic after cables were pulled'
run ibctl dev del shca2
wait_until 3 sw_port_is 3 down || fail 'the device at the other end is gone and the port is up'
run A ibctl cable del sw0/3
ok 'cables and a device that go under traffic'

# A namespace goes while a switch takes its cables down.
for _ in 1 2; do
	run ip netns add X
	run ip -n X link set lo up
	run ibctl switch add sw9 ports 8
	for i in 1 2 3 4 5 6 7 8; do
		run ip netns exec X ibctl cable add "sw9/$i" remote 192.0.2.9 id "$i" port $((48000 + i))
	done
	ibctl switch del sw9 &
	deleting=$!
	run ip netns del X
	wait $deleting || fail 'the switch can not be deleted'
done
ok 'a namespace and a switch that go at once'

# The cable goes with its namespace, and does not keep it: vb takes va along.
run ip netns del B
gone() { ! ip -n A link show va; } >/dev/null 2>&1
wait_until 10 gone || fail 'the namespace lives on'
[[ -z $(of shca1/1 .a) ]] || fail 'the cable lives on without its namespace'
port_is shca1 DOWN || fail 'the cable is gone and the port is up'
wait_until 10 sw_port_is 2 down || fail 'the switch does not miss its peer'
kill $flooding
wait $flooding 2>/dev/null
ok 'a namespace that goes under traffic'

run ip netns del C
run modprobe -r ib_ipoib
sleep 1
run ibctl switch del sw0
udp_open A && fail 'the UDP port is open after the last cable'
run ibctl dev del shca1
osm_stop shca0 KILL
