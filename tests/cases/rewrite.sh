#!/bin/bash
# READ of, and WRITE from, 1 MiB that a second thread rewrites without pause.
. "$(dirname "$0")/../lib-verbs.sh"

topo 9000
snap "$DEV_A"
snap "$DEV_B"
both vt_rewrite -n "$(by_kernel 1000 200 3)" -w 30000 -t 280
same "$DEV_A" qp_errors retry_exceeded
same "$DEV_B" qp_errors retry_exceeded
ok "repaired: $(grown "$DEV_A" tx_retransmits) + $(grown "$DEV_B" tx_retransmits) packets sent again"
