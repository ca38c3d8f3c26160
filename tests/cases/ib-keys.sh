#!/bin/bash
# Packets with a wrong P_Key or Q_Key and SMPs with a wrong M_Key come to nothing;
# the port counts them, and the subnet manager hears of it, but not of each.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

star 3
mkdir -p "$OSM_DIR"
cat >"$OSM_DIR/partitions" <<END
Default=0x7fff:ALL=full;
Lab=0x1:$(port_guid shca0)=full;
END
osm_start shca2 --sweep 2 --Pconfig "$OSM_DIR/partitions"
active shca0 shca1 shca2
L1=$(lid_of shca1)
pkeys() { cat "/sys/class/infiniband/$1/ports/1/pkeys/"*; }
wait_until 20 eval 'pkeys shca0 | grep -qx 0x8001' || fail 'shca0 is not in the partition'
pkeys shca1 | grep -qx 0x8001 && fail 'shca1 is in the partition'
index=$(cd /sys/class/infiniband/shca0/ports/1/pkeys && grep -lx 0x8001 -- *)

# violations KIND: of Mkey, Pkey or Qkey, that the port of shca1 counts
violations() { on shca2 smpquery "${@:2}" portinfo "$L1" | sed -n "s/^$1Violations:\.*//p"; }
traps() { cat "$OSM_DIR"/shca2/log* | grep -c "num:$1 "; }

is() { # WHAT HAVE WANT
	(($2 == $3)) || fail "$1: $2, not $3"
}
is 'Qkey at first' "$(violations Qkey)" 0
run vt_key -q -n 50 shca0 shca1
is rx_drop_qkey "$(counter shca1 rx_drop_qkey)" 50
is QkeyViolations "$(violations Qkey)" 50
is PkeyViolations "$(violations Pkey)" 0
wait_until 10 eval '(($(traps 258)))' || {
	osm_log
	fail 'no trap 258'
}
(($(traps 258) < 20)) || fail "$(traps 258) traps for 50 violations"
ok 'wrong Q_Keys: dropped, counted, a trap'

run sleep 2 # the SubnetTimeOut of the last trap
run vt_key -p "$index" -n 50 shca0 shca1
is rx_drop_pkey "$(counter shca1 rx_drop_pkey)" 50
is PkeyViolations "$(violations Pkey)" 50
is QkeyViolations "$(violations Qkey)" 50
ibv_devinfo -v -d shca1 | grep -E 'bad_pkey_cntr:.*0x32$' || fail 'ibv_devinfo does not say 50 bad P_Keys'
ibv_devinfo -v -d shca1 | grep -E 'qkey_viol_cntr:.*0x32$' || fail 'ibv_devinfo does not say 50 bad Q_Keys'
wait_until 10 eval '(($(traps 257)))' || {
	osm_log
	fail 'no trap 257'
}
(($(traps 257) < 20)) || fail "$(traps 257) traps for 50 violations"
ok 'wrong P_Keys: dropped, counted, a trap'

osm_stop shca2 KILL
printf 'm_key 0xabcd\nm_key_protection_level 2\nm_key_lease_period 0\n' >"$OSM_DIR/conf"
osm_start shca2 --sweep 2 -F "$OSM_DIR/conf"
wait_until 40 eval '[[ $(violations Mkey -y 0xabcd) == 0 ]]' || {
	osm_log
	fail 'no subnet manager with an M_Key'
}
wait_until 40 eval '! on shca2 smpquery -t 100 nodeinfo "$L1" >/dev/null 2>&1' || fail 'the M_Key does not protect'
on shca2 smpquery -t 100 -y 0xabce nodeinfo "$L1" >/dev/null 2>&1 && fail 'a wrong M_Key is good'
(($(violations Mkey -y 0xabcd) >= 2)) || fail 'MkeyViolations'
wait_until 10 eval '(($(traps 256)))' || {
	osm_log
	fail 'no trap 256'
}
ok 'wrong M_Keys: no answer, counted, a trap'
osm_stop shca2 KILL

# A limited member asks a switch, which answers as the full member that it is; and
# a GID with the default prefix is good, whatever the subnet's is (IBA 4.1.1).
cat >"$OSM_DIR/partitions" <<END
Default=0x7fff:ALL=limited,ALL_SWITCHES=full,SELF=full,$(port_guid shca0)=full;
END
printf 'subnet_prefix 0xfec0000000000001\n' >>"$OSM_DIR/conf"
stdbuf -oL ibv_asyncwatch -d shca1 >/tmp/events 2>&1 &
watch=$!
wait_until 10 grep -q 'async event' /tmp/events || fail "ibv_asyncwatch: $(cat /tmp/events)"
osm_start shca2 --sweep 2 -F "$OSM_DIR/conf" --Pconfig "$OSM_DIR/partitions"
moved() {
	pkeys shca1 | grep -qx 0x7fff && ! pkeys shca1 | grep -qx 0xffff &&
		grep -q '^fec0:' /sys/class/infiniband/shca1/ports/1/gids/0
}
wait_until 40 moved || {
	osm_log
	fail 'shca1 is not a limited member, or has no new prefix'
}
# ib_core keeps GID_CHANGE of a native port to itself: it renews the cache that
# sysfs shows.
wait_until 10 grep -q 'IBV_EVENT_PKEY_CHANGE ' /tmp/events || fail "no IBV_EVENT_PKEY_CHANGE: $(cat /tmp/events)"
kill $watch
active shca0 shca1 shca2
violated=$(violations Pkey -y 0xabcd)
on shca1 perfquery "$(ibctl -j switch show sw0 | jq .lid)" || fail 'a limited member can not ask a switch'
is PkeyViolations "$(violations Pkey -y 0xabcd)" "$violated"
ok 'a limited member and a switch'
run vt_key -g -q -n 5 shca0 shca1
ok 'the default GID prefix in a subnet of another'
osm_stop shca2 KILL
