#!/bin/bash
# Packets that nobody should send (T13), 20,000 of a seeded stream: every
# opcode, length, pad, good and bad ICRC, live and unknown queue pairs.
. "$(dirname "$0")/../lib-verbs.sh"

n=$(by_kernel 20000 60000 3000)

topo 1500
snap "$DEV_A"
rm -f /tmp/victim.in
mkfifo /tmp/victim.in
vt_victim -d "$DEV_A" -g "$IP_A" -r "$IP_B" </tmp/victim.in >/tmp/victim.out 2>&1 &
victim=$!
exec 9>/tmp/victim.in
wait_until 30 grep -q '^ready' /tmp/victim.out || fail "$(cat /tmp/victim.out)"
run B python3 "$(dirname "$0")/../fuzz/hostile.py" --count "$n" --seed 1 \
	--source "$IP_B" --destination "$IP_A" --targets /tmp/victim.out
echo go >&9
exec 9>&-
wait $victim || {
	cat /tmp/victim.out
	fail "vt_victim ended with $?"
}
tail -1 /tmp/victim.out
for reason in rx_drop_malformed rx_drop_icrc rx_drop_qpn rx_drop_opcode rx_drop_qkey; do
	drops=$(grown "$DEV_A" $reason)
	((drops > 0)) || fail "$n hostile packets and $reason has not moved"
	echo "$reason: $drops"
done
# what is new works as before
xfer -n 0-8,1023-1025,65536 -q 4
ok "$n hostile packets"
