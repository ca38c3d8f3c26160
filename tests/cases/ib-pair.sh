#!/bin/bash
# Two native InfiniBand ports on a cable: OpenSM brings them up, the tools of
# infiniband-diags see the subnet, and a pulled cable is noticed and got over.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

run ibctl dev add shca0 link ib guid 1253:4843:0000:000a
run ibctl dev add shca1 link ib
port_is shca0 DOWN || fail 'a port without a cable is not down'
run ibctl cable add shca0/1 shca1/1
ports_are INIT shca0 shca1 || fail 'the cable did not bring the ports up'
ok 'a cable brings both ports to INIT'

osm_start shca0 --sweep 2
soon shca0 shca1
A=$(lid_of shca0) B=$(lid_of shca1)
((A > 0 && B > 0 && A != B)) || fail "LIDs $A and $B"
ok "OpenSM brings both to ACTIVE, LIDs $A and $B"

timeout 20 ibstat shca1 | grep -q 'Link layer: InfiniBand' || fail 'ibstat'
on shca1 sminfo | grep -q "lid $A " || fail 'sminfo does not find the subnet manager'
on shca1 smpquery nodedesc "$A" | grep -q shca0 || fail 'smpquery by LID'
on shca1 smpquery -D portinfo 0,1 1 | grep -q 'LinkState:.*Active' || fail 'smpquery by path'
[[ $(on shca0 ibnetdiscover | grep -c ^Ca) == 2 ]] || fail 'ibnetdiscover does not see two adapters'
on shca1 saquery -N | grep -c 'NodeDescription' | grep -qx 2 || fail 'saquery does not know two nodes'
ok 'sminfo, smpquery, ibnetdiscover and saquery see the subnet'

ibping -S -C shca0 -P 1 &
ping=$!
on shca1 ibping -c 5 "$A" | grep -q '5 packets transmitted, 5 received' || fail 'ibping'
kill $ping
ok 'ibping'

# sent: what perfquery says that shca0 has
sent() { on shca1 perfquery "$A" 1 | sed -n 's/^PortXmitPkts:\.*//p'; }
# The subnet manager's sweeps are packets too; a stopped one does not sweep.
kill -STOP "$(osm_pid shca0)"
before=$(sent)
((before > 20)) || fail "perfquery: $before packets since the cable was plugged in"
on shca1 perfquery -R "$A" 1 >/dev/null || fail 'perfquery -R'
after=$(sent)
kill -CONT "$(osm_pid shca0)"
((after > 0 && after < 20)) || fail "perfquery -R: $after packets are left of $before"
ok "perfquery reads and clears the counters: $before, $after"

run ibctl cable del shca1/1
wait_until 5 ports_are DOWN shca0 shca1 || fail 'the ports do not see that the cable is out'
(($(counter shca1 link_downed) > 0)) || fail 'link_downed'
run ibctl cable add shca1/1 shca0/1
active shca0 shca1
on shca1 sminfo || fail 'sminfo after the cable was out'
ok 'a cable that was pulled and plugged in again'

osm_stop shca0 KILL
osm_start shca1 --sweep 2
wait_until 60 eval 'on shca0 sminfo 2>/dev/null | grep -q "lid $B "' || {
	osm_log
	fail 'another subnet manager does not take over'
}
ok 'a subnet manager elsewhere'

osm_stop shca1 KILL
run ibctl cable del shca0/1
run ibctl cable add shca0/1 shca1/1
run timeout 20 opensm -B # as docs/FABRIC.md has it
soon shca0 shca1
daemon=$(pgrep -x opensm) || fail 'opensm -B is no daemon'
run kill "$daemon"
wait_until 20 eval '! kill -0 "$daemon" 2>/dev/null' || fail 'opensm does not end'
ok 'opensm -B'

run ibctl dev del shca0
port_is shca1 DOWN || fail 'the peer is gone and the port is not down'
[[ -z $(ibctl cable list) ]] || fail 'the cable outlives its device'
run ibctl dev del shca1
