#!/bin/bash
# READs over a wire of 3 Mbit/s that loses one packet in a thousand: responses wait
# longer in its queue than the timeout is. No queue pair is lost.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
netem rate 3mbit loss 0.1% limit 1000
snap "$DEV_A"
snap "$DEV_B"
server_args -w 20000
xfer -o READ -n 65536 -T "$(by_kernel $((4 * MIB)) $((4 * MIB)) $((MIB / 2)))" -w 20000 -O 14
same "$DEV_A" qp_errors
same "$DEV_B" qp_errors
(($(grown "$DEV_A" rx_out_of_sequence) > 0)) || fail 'nothing was lost'
ok "READ at 3 Mbit/s: $(grown "$DEV_A" tx_retransmits) requests sent again"
