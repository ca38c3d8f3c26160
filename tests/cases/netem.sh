#!/bin/bash
# A bad wire: loss of 0.1 % and 1 %, reordering, duplicates. Data right, no
# queue pair lost, and something completes in every second.
. "$(dirname "$0")/../lib-verbs.sh"

total=$(by_kernel $((2 * MIB)) $((8 * MIB)) $((MIB / 8)))
stall=$(by_kernel 1000 1000 10000)
lists=$(by_kernel 100 50 5)

# wire DISCIPLINE...: on both ends
wire() {
	netem limit 20000 "$@"
	before=$(qdisc_drops)
	snap "$DEV_A"
	snap "$DEV_B"
}

qdisc_drops() {
	A tc -s qdisc show dev va | sed -n 's/.*dropped \([0-9]*\).*/\1/p' | head -1
}
dropped() { echo $(($(qdisc_drops) - before)); }

# one operation at a time, then all of them mixed in each list
move() {
	server_args -w "$stall"
	xfer -n 65536 -T "$total" -q 2 -w "$stall" -O 14
	both vt_mix -n "$lists" -O 14
	same "$DEV_A" qp_errors retry_exceeded
	same "$DEV_B" qp_errors retry_exceeded
}

topo 1500
# packet by packet, else a whole burst counts as one to netem
run ibctl dev set "$DEV_A" burst 1
run ibctl dev set "$DEV_B" burst 1
wire loss 0.1%
move
ok "loss 0.1 %: $(dropped) lost, $(grown "$DEV_A" tx_retransmits) sent again"
wire loss 1%
move
(($(dropped) > 0)) || fail 'netem has dropped nothing'
(($(grown "$DEV_A" tx_retransmits) > 0)) || fail 'nothing was sent again'
ok "loss 1 %: $(dropped) lost, $(grown "$DEV_A" tx_retransmits) sent again"
wire delay 200us reorder 99%
move
(($(grown "$DEV_B" rx_out_of_sequence) > 0)) || fail 'nothing came out of sequence'
ok "reordered: $(grown "$DEV_B" rx_out_of_sequence) out of sequence"
wire duplicate 1%
move
(($(grown "$DEV_B" rx_duplicates) > 0)) || fail 'no duplicate was noticed'
ok "duplicated: $(grown "$DEV_B" rx_duplicates) noticed"
run ibctl dev set "$DEV_A" burst 16
run ibctl dev set "$DEV_B" burst 16
wire loss 1%
move
(($(dropped) > 0)) || fail 'netem has dropped nothing'
(($(grown "$DEV_A" tx_retransmits) > 0)) || fail 'nothing was sent again'
ok "loss 1 % of whole bursts: $(grown "$DEV_A" tx_retransmits) sent again"
wire corrupt 1%
move
(($(grown "$DEV_B" rx_drop_icrc) + $(grown "$DEV_A" rx_drop_icrc) > 0)) ||
	fail 'no bad ICRC was noticed'
ok "corrupted: $(grown "$DEV_B" rx_drop_icrc) bad ICRCs"
