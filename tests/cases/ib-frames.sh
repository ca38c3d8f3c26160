#!/bin/bash
# Packets by a cable from another host, with anything wrong in LRH, GRH, BTH or a
# MAD, to an adapter and to a switch: each costs a counter, and everybody reaches
# everybody before and afterwards.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

N=$(by_kernel 30000 10000 1000)
FUZZ=$(dirname "$0")/../fuzz/ib-frames.py

#	shca0 - sw0/1    sw0/2 = UDP = shca1    shca3 = UDP = sw0/3
topo_netns 1500
run ibctl switch add sw0 ports 4
for i in 0 1 3; do
	run ibctl dev add "shca$i" link ib
done
DEVS=(shca0 shca1 shca3)
run ibctl cable add shca0/1 sw0/1
run A ibctl cable add sw0/2 remote "$IP_B" id 7
run B ibctl cable add shca1/1 remote "$IP_A" id 7
run A ibctl cable add shca3/1 remote "$IP_B" id 8
run B ibctl cable add sw0/3 remote "$IP_A" id 8
wait_until 10 ports_are INIT "${DEVS[@]}" || fail 'the cables are not up'
osm_start shca0 --sweep 2
active "${DEVS[@]}"
run vt_all "${DEVS[@]}"
SW=$(ibctl -j switch show sw0 | jq .lid)

grew() { # DEVICE COUNTER...: since snap
	local dev=$1 name n
	shift
	for name; do
		n=$(grown "$dev" "$name")
		printf '%s: %s more %s\n' "$dev" "$n" "$name"
		((n > 0)) || fail "$dev: $name has not grown"
	done
}
# asked more than once: what is left of the flood waits in the same queues
port_counter() { # PORT NAME
	local port=$1
	wait_until 20 eval 'on shca0 perfquery "$SW" "$port" >/tmp/perf 2>&1' || {
		cat /tmp/perf
		osm_log
		fail "perfquery does not reach port $port of the switch any more"
	}
	sed -n "s/^$2:\.*//p" /tmp/perf
}

# to an adapter, which looks at all of it
snap shca3
run B "$FUZZ" "$IP_B" "$IP_A" 8 "$N" 1 "$(lid_of shca3)"
grew shca3 rx_drop_malformed rx_drop_icrc rx_drop_opcode rx_drop_vl15 rx_drop_address rx_drop_qpn \
	rx_drop_pkey rx_drop_qkey
ok 'an adapter'

# to a switch, which looks at the LRH and at what is for itself
on shca0 perfquery -R "$SW" 2 >/dev/null || fail 'perfquery -R'
snap shca0
run B "$FUZZ" "$IP_B" "$IP_A" 7 "$N" 2 "$SW" "$SW" "$(lid_of shca0)"
for name in PortRcvErrors VL15Dropped PortRcvSwitchRelayErrors; do
	n=$(port_counter 2 $name)
	printf 'sw0: %s %s\n' "$name" "$n"
	((n > 0)) || fail "the switch has no $name"
done
grew shca0 rx_drop_malformed rx_drop_icrc rx_drop_opcode rx_drop_address rx_drop_qpn
ok 'a switch, and who is behind it'

osm_stop shca0 KILL 2>/dev/null
osm_start shca0 --sweep 2 -Q
active "${DEVS[@]}"
wait_until 20 vt_all "${DEVS[@]}" || fail 'not everybody reaches everybody'
ok 'all is well'
osm_stop shca0 KILL
