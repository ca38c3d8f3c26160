#!/bin/bash
# A two-level fat tree of 2 spines, 4 leaves and 64 hosts in one guest: OpenSM
# has all of it up in its first two sweeps, every host reaches one of every leaf,
# and a datagram goes from every host to every host.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

LEAVES=4 SPINES=2 HOSTS=16
host() { printf 'shca%d\n' $(($1 * HOSTS + $2)); } # LEAF N: the Nth at that leaf
DEVS=()
for ((i = 0; i < LEAVES * HOSTS; i++)); do
	DEVS+=("shca$i")
done
modprobe -qa ib_umad
run ibctl fabric apply "$(dirname "$0")/../../docs/fabrics/fat-tree.yaml"
ok "${#DEVS[@]} hosts and $((LEAVES + SPINES)) switches"

# The interval between sweeps is OpenSM's own, 10 s.
mkdir -p "$OSM_DIR"
printf 'log_flags 0x07\nforce_log_flush TRUE\n' >"$OSM_DIR/conf"
osm_start shca0 -F "$OSM_DIR/conf"
START=$SECONDS
wait_until 60 ports_are ACTIVE "${DEVS[@]}" || {
	osm_log
	head -qn 1 /sys/class/infiniband/*/ports/1/state | sort | uniq -c
	fail 'not all active 60 s after the start of opensm'
}
# At that level it says so after each, in a box of stars.
up() { grep -c '\*.*SUBNET UP' "$OSM_DIR/shca0/log"; }
sweeps=$(up)
((sweeps < 2)) || {
	grep -n 'SUBNET UP\|SWEEP' "$OSM_DIR/shca0/log"
	fail "not active until OpenSM had done $sweeps sweeps"
}
ok "all active in $((SECONDS - START)) s, after $sweeps whole sweeps"
wait_until 30 eval '(($(up)))' || {
	osm_log
	fail 'OpenSM does not end a sweep'
}

on "$(host 3 15)" ibnetdiscover >/tmp/net || fail 'ibnetdiscover'
[[ $(grep -c ^Ca /tmp/net) == "${#DEVS[@]}" ]] || fail 'ibnetdiscover does not see all hosts'
[[ $(grep -c ^Switch /tmp/net) == $((LEAVES + SPINES)) ]] || fail 'ibnetdiscover does not see all switches'
for dev in "${DEVS[@]}"; do
	lid_of "$dev"
done | sort -n | uniq -d | grep . && fail 'two hosts have the same LID'
# Leaf, spine, leaf: ibtracert names each switch on the way.
on "$(host 0 1)" ibtracert "$(lid_of "$(host 0 1)")" "$(lid_of "$(host 3 2)")" >/tmp/path || fail 'ibtracert'
[[ $(grep -c 'switch port' /tmp/path) == 3 ]] || {
	cat /tmp/path
	fail 'the way from leaf to leaf has not three switches'
}
ok 'ibnetdiscover sees them, and ibtracert the way'

ibping -S -C "$(host 3 7)" -P 1 &
server=$!
LID=$(lid_of "$(host 3 7)")
wait_until 20 eval 'on "$(host 3 1)" ibping -f -c 1 "$LID" | grep -q "1 received"' || fail 'ibping -S does not answer'
for ((l = 0; l < LEAVES; l++)); do
	on "$(host $l 2)" ibping -f -c 20 "$LID" | grep '20 packets transmitted, 20 received' ||
		fail "ibping from leaf $l"
done
kill "$server"
ok 'ibping from every leaf'

run vt_all -p "$HOSTS" "${DEVS[@]}"
ok 'a datagram from every host to every host, and each pings one of every leaf'

ibctl -j cable list | jq -e 'length == 72' >/dev/null || fail 'ibctl does not list 72 cables'
osm_stop shca0 KILL
