#!/bin/bash
# post_recv, poll_cq and req_notify_cq enter the kernel never, a stream of
# sends less than once a send (how often depends on how soon the ACKs come).
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
both vt_nosyscall -n "$(by_kernel 5000 2000 500)" -m 900
