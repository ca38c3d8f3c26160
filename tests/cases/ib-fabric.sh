#!/bin/bash
# Declared fabrics: made, made again, brought up by OpenSM, shown, repaired and
# deleted. The fat tree of 64 adapters is only made and deleted.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

FABRICS=$(dirname "$0")/../../docs/fabrics

modprobe -q softhca
ibctl -j monitor >/tmp/events 2>/tmp/err &
monitor=$!
# It says nothing when it begins to listen: repeat until it has heard.
heard() {
	run ibctl switch add probe ports 1
	run ibctl switch del probe
	[[ -s /tmp/events ]]
}
wait_until 10 heard || fail "ibctl monitor: $(cat /tmp/err)"
run ibctl fabric apply "$FABRICS/star.yaml"
ports_are INIT shca0 shca1 shca2 shca3 || fail 'not all ports have a link'
ids() { cat /sys/class/infiniband/shca*/node_guid; }
before=$(ids)
run ibctl fabric apply "$FABRICS/star.yaml"
[[ $(ids) == "$before" ]] || fail 'what was there was made anew'
osm_start shca0 --sweep 1
active shca0 shca1 shca2 shca3
ok 'one switch and four adapters, active'

ibctl fabric show >/tmp/text
cat /tmp/text
grep -Eq '^  4 +-- shca3/1 +link up +active$' /tmp/text || fail 'fabric show'
ibctl fabric show -o yaml >/tmp/shown.yaml
run ibctl fabric apply /tmp/shown.yaml
ibctl fabric show -o dot >/tmp/dot
(($(grep -c -- ' -- ' /tmp/dot) == 4)) || fail 'fabric show -o dot'
ok 'shown as text, graph and file'

run ibctl cable del sw0/3
run ibctl dev del shca3
run ibctl fabric apply /tmp/shown.yaml
[[ $(ids) == "$before" ]] || fail 'the GUIDs are not those of the file'
active shca0 shca1 shca2 shca3
on shca3 sminfo || fail 'sminfo'
ok 'what was missing is made, and joins the subnet'

sed 's/ports: 4/ports: 5/' "$FABRICS/star.yaml" >/tmp/other.yaml
refused ibctl fabric apply /tmp/other.yaml 2>/tmp/err
grep -q '/tmp/other.yaml:3: switch sw0: there is one already' /tmp/err || fail "$(cat /tmp/err)"
osm_stop shca0 KILL
run ibctl fabric delete "$FABRICS/star.yaml"
run ibctl fabric delete "$FABRICS/star.yaml"
nothing() { [[ -z $(ibctl dev list)$(ibctl switch list)$(ibctl cable list) ]]; }
nothing || fail 'something is left'
# told EVENT JQ: the filter is true of an event of that kind
told() { [[ $(jq -s "any(.[] | select(.event == \"$1\"); $2)" /tmp/events) == true ]]; }
told switch-new '.name == "sw0" and .port_count == 4' || fail 'the monitor tells of no switch'
told switch-del '.name == "sw0"' || fail 'the monitor tells of no deleted switch'
told cable-new '.b == "sw0/3" or .a == "sw0/3"' || fail 'the monitor tells of no cable'
told cable-set '(.a == "shca0/1") and .link_state == "up"' || fail 'the monitor tells of no link'
told cable-del '.a == "shca0/1" and .link_state == "down"' || fail 'the monitor tells of no pulled cable'
told set '.name == "shca0" and .port_state == "active"' || fail 'the monitor tells of no active port'
kill $monitor
ok 'a contradiction, deletion, and what the monitor told of it all'

run ibctl fabric apply "$FABRICS/fat-tree.yaml"
[[ $(ibctl dev list | wc -l) == 64 && $(ibctl switch list | wc -l) == 6 ]] || fail 'not 64 adapters and 6 switches'
[[ $(ibctl cable list | cut -f3 | sort | uniq -c) =~ ^\ *72\ up$ ]] || fail 'not 72 cables that are up'
run ibctl fabric apply "$FABRICS/fat-tree.yaml"
run ibctl fabric delete --all
nothing || fail 'something is left'
ok 'a fat tree'

# A device and a switch that are added at once do not both get the name or GUID.
for ((i = 0; i < $(by_kernel 60 12 4); i++)); do
	# They share the name and the GUID by turns.
	other=same guid=1253:4843:0000:0008
	((i % 2)) && other=other guid=1253:4843:0000:0009
	ibctl dev add same link ib guid 1253:4843:0000:0009 2>/tmp/err &
	adding=$!
	ibctl switch add $other ports 1 guid $guid 2>/tmp/err-switch
	switch=$?
	wait $adding
	(($? + switch == 1)) || {
		ibctl fabric show
		fail "not one of a device and a switch: $(cat /tmp/err /tmp/err-switch)"
	}
	grep -qE 'the (name|GUID) is' /tmp/err /tmp/err-switch || fail "$(cat /tmp/err /tmp/err-switch)"
	run ibctl fabric delete --all
done
run ibctl switch add same ports 1
run ibctl dev add other link ib
run rdma dev set other name same
refused ibctl cable add same/1 other/1 2>/tmp/err
grep -q 'a switch and a device have this name' /tmp/err || fail "$(cat /tmp/err)"
run ibctl switch del same
run ibctl dev del same
ok 'no two nodes have one name'
