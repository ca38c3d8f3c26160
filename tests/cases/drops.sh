#!/bin/bash
# One packet for each check on receive; it counts under its own name and no other.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
run A ip addr add 10.0.0.9/32 dev lo
run B ip addr add 10.0.0.3/24 dev vb
run B ip route add 10.0.0.9/32 via 10.0.0.1

rm -f /tmp/victim.in
mkfifo /tmp/victim.in
A vt_victim -d "$DEV_A" -g "$IP_A" -r "$IP_B" </tmp/victim.in >/tmp/victim.out 2>&1 &
victim=$!
exec 9>/tmp/victim.in
wait_until 30 grep -q '^ready' /tmp/victim.out || fail "$(cat /tmp/victim.out)"
run python3 /softhca/tests/fuzz/drops.py "$DEV_A" /tmp/victim.out B
echo go >&9
exec 9>&-
wait $victim || fail "vt_victim: $(cat /tmp/victim.out)"
ok 'each check counts under its own name'
