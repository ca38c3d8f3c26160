#!/bin/bash
# One packet for each check on receive, of an adapter, a switch and a cable to
# another host: it counts under its own name, once, and under no other. And a
# question of each kind to the agents, with the answer that is due.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

FUZZ=$(dirname "$0")/../fuzz/ib-drops.py

#	shca0 - sw0/1    sw0/2 = UDP, IPv4 = shca1    shca3 = UDP, IPv6 = sw0/3
topo_netns 1500
run ip -n B addr add fd00::3/64 dev vb nodad preferred_lft 0 # no source but of who binds to it
run ibctl switch add sw0 ports 4
for i in 0 1 3; do
	run ibctl dev add "shca$i" link ib
done
DEVS=(shca0 shca1 shca3)
run ibctl cable add shca0/1 sw0/1
run A ibctl cable add sw0/2 remote "$IP_B" id 7
run B ibctl cable add shca1/1 remote "$IP_A" id 7
run A ibctl cable add shca3/1 remote "$IP6_B" id 8
run B ibctl cable add sw0/3 remote "$IP6_A" id 8
osm_start shca0 --sweep 2
active "${DEVS[@]}"
osm_stop shca0 KILL 2>/dev/null # it would ask, and be told of violations
SW=$(ibctl -j switch show sw0 | jq .lid) PEER=$(lid_of shca1)

rm -f /tmp/targets.in
mkfifo /tmp/targets.in
vt_targets shca3 "$PEER" shca0 </tmp/targets.in >/tmp/targets 2>&1 &
targets=$!
exec 9>/tmp/targets.in
wait_until 30 grep -q '^ready' /tmp/targets || fail "$(cat /tmp/targets)"
run "$FUZZ" adapter shca3 /tmp/targets "$PEER" "$IP6_B" "$IP6_A" 8
echo go >&9
exec 9>&-
wait $targets || fail "vt_targets: $(cat /tmp/targets)"
ok 'an adapter'

run "$FUZZ" switch shca0 "$SW" 2 "$PEER" "$IP_B" "$IP_A" 7
ok 'a switch'

run "${FUZZ%/*}/ib-answers.py" shca0 own:0 ca:0,1,2 sw:0,1 "ca:lid:$(lid_of shca3)" "sw:lid:$SW"
ok 'an answer to each question'

# ib-remote sends the same over IPv4.
run "$FUZZ" cable shca3/1 "$IP6_B" fd00::3 "$IP6_A" 8
ok 'a cable'

run ibctl cable del sw0/3
wait_until 10 port_is shca3 DOWN || fail 'the cable is out and the port is up'
run B ibctl cable add sw0/3 remote "$IP6_A" id 8
wait_until 10 port_is shca3 INIT || fail 'the cable is in and the port is not up'
run "$FUZZ" down shca3 "$IP6_B" "$IP6_A" 8
ok 'a port that is not up'
