#!/bin/bash
# post_recv, poll_cq and req_notify_cq enter the kernel never, a stream of
# sends only while nothing is under way: with 2 ms to the peer, what is posted
# before the first ACK comes rides on it.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
B tc qdisc add dev vb root netem delay 2ms limit 10000
both vt_nosyscall -n "$(by_kernel 5000 2000 500)" -m 500
