#!/bin/bash
# Declared fabrics: made, made again, brought up by OpenSM, shown, repaired and
# deleted. The fat tree of 64 adapters is only made and deleted.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

FABRICS=$(dirname "$0")/../../docs/fabrics

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
ok 'a contradiction, and deletion'

run ibctl fabric apply "$FABRICS/fat-tree.yaml"
[[ $(ibctl dev list | wc -l) == 64 && $(ibctl switch list | wc -l) == 6 ]] || fail 'not 64 adapters and 6 switches'
[[ $(ibctl cable list | cut -f3 | sort | uniq -c) =~ ^\ *72\ up$ ]] || fail 'not 72 cables that are up'
run ibctl fabric apply "$FABRICS/fat-tree.yaml"
run ibctl fabric delete --all
nothing || fail 'something is left'
ok 'a fat tree'
