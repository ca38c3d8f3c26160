#!/bin/bash
# Each mistake its own status (T38), RNR timers and retries (T34), black hole (T35).
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
both vt_errors access
both vt_errors -n "$(by_kernel 300 1000 20)" loop
both vt_errors rnr
both vt_errors pieces
run ibctl dev set "$DEV_A" window 8
run A tc qdisc add dev va root netem delay 300ms
both vt_errors gone
run A tc qdisc del dev va root
run ibctl dev set "$DEV_A" window 128
both vt_errors blackhole
both vt_errors -x 'ip netns exec A tc qdisc add dev va root netem loss 100%' blackhole
