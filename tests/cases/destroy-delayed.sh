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

# look: how many packets have left va's queue, and how many are in it, in one
# look so that both are of one moment; others, of IPv6, come and go as well
look() {
	A tc -s qdisc show dev va |
		awk '/ Sent /{ s = $4 } / backlog /{ sub("p", "", $3); print s, $3; exit }'
}
read -r _ n < <(look)
((n > 0)) || fail 'nothing was left in the queue: the test tests nothing'
run ibctl dev del "$DEV_A"
run ibctl dev del "$DEV_B"
unload_now
read -r sent n < <(look)
all=$((sent + n))
((n > 0)) || fail 'the queue was empty before the module was unloaded'
left() {
	read -r sent _ < <(look)
	((sent >= all))
}

wait_until $((delay + 10)) left || fail "of $n packets some stay queued"
ok "$n packets left when the module was gone"
