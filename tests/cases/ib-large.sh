#!/bin/bash
# A two-level fat tree of 2 spines, 4 leaves and 64 hosts in one guest: OpenSM
# has all of it up in its first two sweeps, every host reaches one of every leaf,
# and a datagram goes from every host to every host.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

LEAVES=4 SPINES=2 HOSTS=16
modprobe -qa ib_umad
DEVS=()
for ((s = 0; s < SPINES; s++)); do
	run ibctl switch add "spine$s" ports $LEAVES
done
for ((l = 0; l < LEAVES; l++)); do
	run ibctl switch add "leaf$l" ports $((HOSTS + SPINES))
	for ((s = 0; s < SPINES; s++)); do
		run ibctl cable add "leaf$l/$((HOSTS + s + 1))" "spine$s/$((l + 1))"
	done
	for ((h = 0; h < HOSTS; h++)); do
		DEVS+=("h$l-$h")
		run ibctl dev add "h$l-$h" link ib
		run ibctl cable add "h$l-$h/1" "leaf$l/$((h + 1))"
	done
done
ok "${#DEVS[@]} hosts and $((LEAVES + SPINES)) switches"

# The interval between sweeps is OpenSM's own, 10 s.
mkdir -p "$OSM_DIR"
printf 'log_flags 0x07\nforce_log_flush TRUE\n' >"$OSM_DIR/conf"
osm_start h0-0 -F "$OSM_DIR/conf"
START=$SECONDS
wait_until 60 ports_are ACTIVE "${DEVS[@]}" || {
	osm_log
	head -qn 1 /sys/class/infiniband/*/ports/1/state | sort | uniq -c
	fail 'not all active 60 s after the start of opensm'
}
# At that level it says so after each, in a box of stars.
up() { grep -c '\*.*SUBNET UP' "$OSM_DIR/h0-0/log"; }
sweeps=$(up)
((sweeps < 2)) || {
	grep -n 'SUBNET UP\|SWEEP' "$OSM_DIR/h0-0/log"
	fail "not active until OpenSM had done $sweeps sweeps"
}
ok "all active in $((SECONDS - START)) s, after $sweeps whole sweeps"
wait_until 30 eval '(($(up)))' || {
	osm_log
	fail 'OpenSM does not end a sweep'
}

on h3-15 ibnetdiscover >/tmp/net || fail 'ibnetdiscover'
[[ $(grep -c ^Ca /tmp/net) == "${#DEVS[@]}" ]] || fail 'ibnetdiscover does not see all hosts'
[[ $(grep -c ^Switch /tmp/net) == $((LEAVES + SPINES)) ]] || fail 'ibnetdiscover does not see all switches'
for dev in "${DEVS[@]}"; do
	lid_of "$dev"
done | sort -n | uniq -d | grep . && fail 'two hosts have the same LID'
# Leaf, spine, leaf: ibtracert names each switch on the way.
on h0-1 ibtracert "$(lid_of h0-1)" "$(lid_of h3-2)" >/tmp/path || fail 'ibtracert'
[[ $(grep -c 'switch port' /tmp/path) == 3 ]] || {
	cat /tmp/path
	fail 'the way from leaf to leaf has not three switches'
}
ok 'ibnetdiscover sees them, and ibtracert the way'

ibping -S -C h3-7 -P 1 &
server=$!
wait_until 20 eval 'on h3-1 ibping -f -c 1 "$(lid_of h3-7)" | grep -q "1 received"' || fail 'ibping -S does not answer'
for ((l = 0; l < LEAVES; l++)); do
	on "h$l-2" ibping -f -c 20 "$(lid_of h3-7)" | grep '20 packets transmitted, 20 received' ||
		fail "ibping from h$l-2"
done
kill "$server"
ok 'ibping from every leaf'

run vt_all -p "$HOSTS" "${DEVS[@]}"
ok 'a datagram from every host to every host, and each pings one of every leaf'

ibctl -j cable list | jq -e 'length == 72' >/dev/null || fail 'ibctl does not list 72 cables'
osm_stop h0-0 KILL
