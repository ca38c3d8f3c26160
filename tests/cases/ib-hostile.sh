#!/bin/bash
# What a program, a subnet manager gone mad and a misprogrammed switch can send on
# a native InfiniBand fabric costs counters, and nothing else: afterwards a new
# subnet manager brings everything up, and everybody reaches everybody.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

N=$(by_kernel 20000 6000 1000)
FUZZ=$(dirname "$0")/../fuzz/ib-mads.py

#	shca0 - sw0/1   sw0/3 = sw1/3   sw1/1 - shca2
#	shca1 - sw0/2   sw0/4 = sw1/4
DEVS=(shca0 shca1 shca2)
run ibctl switch add sw0 ports 4
run ibctl switch add sw1 ports 4
for i in 0 1 2; do
	run ibctl dev add "shca$i" link ib
	run ibctl cable add "shca$i/1" "sw$((i / 2))/$((i % 2 + 1))"
done
run ibctl cable add sw0/3 sw1/3
run ibctl cable add sw0/4 sw1/4
osm_start shca0 --sweep 2
active "${DEVS[@]}"
run vt_all "${DEVS[@]}"
lid_sw() { ibctl -j switch show "$1" | jq .lid; }
SW0=$(lid_sw sw0) SW1=$(lid_sw sw1) L2=$(lid_of shca2)

# grew DEVICE COUNTER...: since snap
grew() {
	local dev=$1 name
	shift
	for name; do
		(($(grown "$dev" "$name") > 0)) || fail "$dev: $name has not grown"
	done
}
# port_counter LID PORT NAME: what perfquery says
port_counter() { on shca0 perfquery "$1" "$2" | sed -n "s/^$3:\.*//p"; }

snap shca2
run vt_stray -n "$N" shca0 shca2 "$SW0" "$SW1" "$L2" "$L2"
grew shca2 rx_drop_vl15 rx_drop_qkey rx_drop_qpn rx_drop_address
(($(port_counter "$SW0" 1 PortRcvSwitchRelayErrors) > 0)) || fail 'the switch has not counted what it knows no way for'
same shca2 rx_drop_malformed rx_drop_icrc qp_errors
ok 'datagrams to where there is nobody, or who has other keys'

# A switch that sends back what the other one sends: two trunks make a ring. The
# SM is stopped, or it would see to it.
osm_stop shca0 KILL 2>/dev/null
run "$FUZZ" lft shca0 0,1 999 3
run "$FUZZ" lft shca0 0,1,3 999 4
on shca0 perfquery -R "$SW0" 3 >/dev/null || fail 'perfquery -R'
on shca0 smpquery -t 100 nodeinfo 999 >/dev/null 2>&1 && fail 'an answer from a LID that there is not'
n=$(port_counter "$SW0" 3 PortXmitPkts)
# 64 cables, every other one of them from sw0 by its port 3; some attempts
((n >= 32 && n <= 4 * 32 && n % 32 == 0)) || fail "a packet in a ring has gone by $n times, not 32"
(($(port_counter "$SW0" 3 PortXmitDiscards) + $(port_counter "$SW1" 4 PortXmitDiscards) > 0)) ||
	fail 'nobody has counted the end of it'
ok 'a ring of switches'

# A group goes both ways around the ring, and to the host at each turn.
run "$FUZZ" mft shca0 0,1 0xc123 0x1a
run "$FUZZ" mft shca0 0,1,3 0xc123 0x1a
snap shca2
run vt_stray -n 500 -s 2 shca0 shca2 49443 49443 # 0xc123
grew shca2 rx_multicast_packets
still() { # none but what asks
	local n
	n=$(counter shca2 rx_multicast_packets)
	sleep 1
	(($(counter shca2 rx_multicast_packets) == n))
}
wait_until 60 still || fail 'it does not end'
on shca0 smpquery nodeinfo "$SW1" >/dev/null || fail 'the switches are deaf'
ok 'a group in a ring'

run "$FUZZ" fuzz shca0 "$N" 1 0 0,1 0,1,3 0,1,2 0,1,3,1 "lid:$SW0" "lid:$SW1" "lid:$L2" "lid:$(lid_of shca0)"
ok 'management datagrams with everything wrong in them'

# What a SM may set, it has set, SLtoVL too; a new one has to set all of it right.
osm_start shca0 --sweep 2 -Q
active "${DEVS[@]}"
wait_until 20 vt_all "${DEVS[@]}" || fail 'not everybody reaches everybody'
ok 'all is well again'
osm_stop shca0 KILL
