#!/bin/bash
# Windows of any size, and one that shrinks under what is in flight: nothing waits
# for an answer that nobody was asked for. There is no ACK timer to help.
. "$(dirname "$0")/../lib-verbs.sh"

lists=$(by_kernel 50 15 4)

# while_window PID SIZE...: these sizes in turn while a process runs
while_window() {
	local pid=$1 size
	shift
	while kill -0 "$pid" 2>/dev/null; do
		for size; do
			run ibctl dev set "$DEV_A" window "$size"
			sleep 0.0$((RANDOM % 9 + 1))
		done
	done
}

topo 1500
snap "$DEV_A"
snap "$DEV_B"
for size in 1 2 5 8 31 32 33 36 64 1024; do
	run ibctl dev set "$DEV_A" window "$size"
	both vt_mix -O 0 s2000,s2000,s2000,s2000,R65536
	both vt_mix -O 0 "w64,R40000,$(printf 's1000,%.0s' {1..20})w5000,R40000"
	both vt_mix -O 0 -n "$lists" -s "$size"
done
healthy
ok 'windows of 1 to 1024 packets'

# What is not asked for is as much as a quarter of the old window. Four READs hold
# back the fifth, which comes when the window has room for none of it.
RANDOM=1
run A tc qdisc add dev va root netem delay 50ms
both vt_mix -O 0 -n "$(by_kernel 40 20 8)" \
	"R1,R1,R1,R1,$(printf 's2000,%.0s' {1..10})R1,w64,S64" &
pid=$!
while_window $pid 128 8 2
wait $pid || fail 'a window that shrinks'
healthy
ok 'a window that shrinks'
