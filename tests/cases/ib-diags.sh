#!/bin/bash
# The tools of infiniband-diags on a switch with three adapters of four LIDs each:
# each says what is so, compared with what sysfs and ibctl say.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

star 3 2 # ports 2, 3 and 4
osm_start shca0 --sweep 2 --lmc 2
active shca0 shca1 shca2
L0=$(lid_of shca0) L1=$(lid_of shca1) L2=$(lid_of shca2)
SW=$(ibctl -j switch show sw0 | jq .lid)
# a GUID, which some print with its leading zeros and some without
guid() { printf '0x0*%x' "$(port_guid "$1")"; }

# says FILE WHAT REGEX: it has a line of that kind
says() {
	grep -qE "$3" "$1" && return
	cat "$1"
	fail "$2 does not say: $3"
}

timeout 20 ibstat shca1 >/tmp/o || fail 'ibstat'
says /tmp/o ibstat 'State: Active'
says /tmp/o ibstat 'Physical state: LinkUp'
says /tmp/o ibstat "Base lid: $L1\$"
says /tmp/o ibstat "SM lid: $L0\$"
says /tmp/o ibstat 'Rate: 10$'
says /tmp/o ibstat "Port GUID: $(guid shca1)"
says /tmp/o ibstat 'Link layer: InfiniBand'
ok ibstat

on shca2 sminfo >/tmp/o || fail 'sminfo'
says /tmp/o sminfo "sm lid $L0 sm guid $(guid shca0), .* state 3 SMINFO_MASTER"
ok sminfo

on shca2 ibnetdiscover >/tmp/o || fail 'ibnetdiscover'
says /tmp/o ibnetdiscover '^Switch.*"sw0"'
says /tmp/o ibnetdiscover "^\[3\].*\"shca1\" lid $L1 4xSDR"
[[ $(grep -c ^Ca /tmp/o) == 3 ]] || fail 'ibnetdiscover does not see three adapters'
ok ibnetdiscover

on shca2 iblinkinfo >/tmp/o || fail 'iblinkinfo'
[[ $(grep -c 'Active/  LinkUp' /tmp/o) == 6 ]] || fail "iblinkinfo: $(cat /tmp/o)"
says /tmp/o iblinkinfo "$SW +3\[.*4X +2.5 Gbps Active/  LinkUp\)==> +$L1 +1\[.*\"shca1\""
says /tmp/o iblinkinfo "$SW +1\[.*Down/ Polling"
ok iblinkinfo

on shca2 smpquery nodeinfo "$L1" >/tmp/o || fail 'smpquery nodeinfo'
says /tmp/o smpquery "^Guid:\.*$(guid shca1)"
says /tmp/o smpquery '^NodeType:\.*Channel Adapter'
on shca2 smpquery portinfo "$L1" >/tmp/o || fail 'smpquery portinfo'
says /tmp/o smpquery "^Lid:\.*$L1\$"
says /tmp/o smpquery "^SMLid:\.*$L0\$"
says /tmp/o smpquery '^LinkState:\.*Active'
says /tmp/o smpquery '^MtuCap:\.*4096'
on shca2 smpquery switchinfo "$SW" >/tmp/o || fail 'smpquery switchinfo'
says /tmp/o smpquery '^LinearFdbCap:\.*49152'
on shca2 smpquery pkeys "$L1" >/tmp/o || fail 'smpquery pkeys'
says /tmp/o smpquery '0xffff|0x7fff'
ok smpquery

on shca1 saquery PR --slid "$L1" --dlid "$L2" >/tmp/o || fail 'saquery PR'
says /tmp/o 'saquery PR' "dlid\.+$L2\$"
says /tmp/o 'saquery PR' "slid\.+$L1\$"
says /tmp/o 'saquery PR' 'mtu\.+0x85'
on shca1 saquery NR >/tmp/o || fail 'saquery NR'
[[ $(grep -c 'NodeDescription' /tmp/o) == 4 ]] || fail 'saquery does not know four nodes'
ok saquery

on shca0 ibtracert "$L1" "$L2" >/tmp/o || fail 'ibtracert'
says /tmp/o ibtracert "^From ca .*lid $L1-$((L1 + 3)) \"shca1\""
says /tmp/o ibtracert '^\[1\] -> switch port .*\[3\] lid .* "sw0"'
says /tmp/o ibtracert "^\[4\] -> ca port .*\[1\] lid $L2-$((L2 + 3)) \"shca2\""
ok ibtracert

on shca0 ibroute "$SW" >/tmp/o || fail 'ibroute'
says /tmp/o ibroute "^0x0*$(printf %x "$L0") 002 :.*shca0"
says /tmp/o ibroute "^0x0*$(printf %x "$L1") 003 :.*shca1"
says /tmp/o ibroute "^0x0*$(printf %x "$L2") 004 :.*shca2"
on shca0 ibroute -M "$SW" >/tmp/o || fail 'ibroute -M'
says /tmp/o 'ibroute -M' '^Multicast mlids \[0xc000-0xc3ff\] of switch'
ok ibroute

for i in 0 1 2; do
	[[ $(cat "/sys/class/infiniband/shca$i/ports/1/lid_mask_count") == 2 ]] || fail "the LMC of shca$i is not 2"
	lid=$(lid_of "shca$i")
	((lid % 4 == 0)) || fail "LID $lid with an LMC of 2"
	for bits in 0 1 2 3; do
		on shca2 smpquery nodeinfo $((lid + bits)) >/tmp/o || fail "smpquery by LID $lid + $bits"
		says /tmp/o "smpquery nodeinfo $lid + $bits" "^Guid:\.*$(guid "shca$i")"
	done
done
on shca0 ibroute "$SW" >/tmp/o || fail 'ibroute'
says /tmp/o ibroute "^0x0*$(printf %x $((L1 + 3))) 003 :"
for bits in 0 3; do
	run vt_all -b $bits shca0 shca1 shca2
done
pair_of command 'vt_xfer -d shca1 -s' command vt_xfer -d shca2 -c 127.0.0.1 -B 2 -n 0-8,4099
ok 'all LIDs of a port: SMPs, UD and RC'

ibping -S -C shca1 -P 1 &
server=$!
wait_until 20 eval 'on shca2 ibping -f -c 1 "$L1" | grep -q "1 received"' || fail 'ibping -S does not answer'
on shca2 perfquery -R "$L2" 1 >/dev/null || fail 'perfquery -R'
on shca2 ibping -f -c 50 "$L1" >/tmp/o || fail 'ibping'
says /tmp/o ibping '50 packets transmitted, 50 received, 0% packet loss'
kill $server
ok ibping

# A ping and its answer are one packet each way; the rest is perfquery's own.
on shca0 perfquery "$L2" 1 >/tmp/o || fail 'perfquery'
for name in PortXmitPkts PortRcvPkts; do
	n=$(sed -n "s/^$name:\.*//p" /tmp/o)
	((n >= 50 && n < 80)) || fail "perfquery: $name is $n after 50 pings"
done
ok perfquery

# What the subnet manager keeps of a node it learns anew by the trap of a change.
traps() { cat "$OSM_DIR"/shca0/log* | grep -c 'num:144 '; }
before=$(traps)
echo renamed >/sys/class/infiniband/shca1/node_desc
wait_until 20 eval 'on shca2 saquery NR | grep -q "NodeDescription\.*renamed"' || {
	osm_log
	fail 'the subnet manager does not hear of a new node description'
}
(($(traps) > before)) || fail 'no trap 144 in its log'
ok 'trap 144'

# Nobody has LID 999, so the switch does not know the way.
on shca2 smpquery -t 100 nodeinfo 999 >/dev/null 2>&1 && fail 'an answer from a LID that there is not'
run ibctl cable del sw0/3
run ibctl cable add sw0/3 shca1/1
active shca1
: >/tmp/thresholds
timeout 60 ibqueryerrors -C shca0 --threshold-file /tmp/thresholds >/tmp/o
says /tmp/o ibqueryerrors 'port 4: .*\[PortRcvSwitchRelayErrors == [1-9]'
says /tmp/o ibqueryerrors 'port 3: .*\[LinkDownedCounter == 1\]'
ok ibqueryerrors
osm_stop shca0 KILL
