#!/bin/bash
# A queue pair is destroyed while its packets wait in a queue of the network
# (T07): at once, and nothing happens when they leave in the end.
. "$(dirname "$0")/../lib-verbs.sh"

# long enough for a slow kernel to unload the module meanwhile
delay=$(by_kernel 5 20 20)

topo 1500
# the neighbours first: the delay would hold up their resolution as well
run A ping -q -c 1 -W 5 "$IP_B"
run B ping -q -c 1 -W 5 "$IP_A"
for d in A:va B:vb; do
	run "${d%:*}" tc qdisc add dev "${d#*:}" root netem delay "${delay}s" limit 200000
done
both vt_leave
ok 'destroyed at once'

# backlog, sent: packets in va's queue, and that have left it; others, of IPv6,
# come and go as well
backlog() { A tc -s qdisc show dev va | sed -n 's/.* backlog [^ ]* \([0-9]*\)p.*/\1/p' | head -1; }
dequeued() { A tc -s qdisc show dev va | sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p' | head -1; }

(($(backlog) > 0)) || fail 'nothing was left in the queue: the test tests nothing'
run ibctl dev del "$DEV_A"
run ibctl dev del "$DEV_B"
unload_now
n=$(backlog)
all=$(($(dequeued) + n))
((n > 0)) || fail 'the queue was empty before the module was unloaded'
left() { (($(dequeued) >= all)); }

wait_until $((delay + 10)) left || fail "of $n packets some stay queued"
ok "$n packets left when the module was gone"
