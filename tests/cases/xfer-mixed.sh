#!/bin/bash
# SEND, WRITE and READ mixed in one list, over a wire that loses answers of one kind:
# no acknowledge may pass over what a READ has not got yet.
. "$(dirname "$0")/../lib-verbs.sh"

lists=$(by_kernel 300 60 10)

# lose EVERY OPCODE...: A does not get the first of EVERY answers of these
lose() {
	local every=$1 opcode
	shift
	run A iptables -F INPUT
	for opcode; do
		run A iptables -A INPUT -p udp --dport 4791 -m u32 --u32 "28>>24=$opcode" \
			-m statistic --mode nth --every "$every" --packet 0 -j DROP
	done
}

topo 1500
run ibctl dev set "$DEV_A" burst 1
run ibctl dev set "$DEV_B" burst 1
snap "$DEV_A"
snap "$DEV_B"
both vt_mix -n "$lists"
both vt_mix -n "$lists" -s 2
healthy
ok 'a good wire'

# READ responses: first, middle, last and only
lose 2 0x10
snap "$DEV_A"
both vt_mix -n 20 -O 14 S64,R64,S64,S64
both vt_mix -n 20 -O 14 s64,w64,R64,s64,w64,S64
both vt_mix -n 20 -O 14 R64,s64,R64,w64,R64,S64
(($(grown "$DEV_A" rx_out_of_sequence) >= 20)) || fail 'no gap was noticed'
same "$DEV_A" qp_errors rx_bad_response
ok 'each second READ of one packet has to ask twice'
lose 5 0x0d 0x0e 0x0f 0x10
both vt_mix -n "$lists" -O 14
ok 'one in five READ responses is lost'
# and acknowledges, so that those which come pass over more
lose 3 0x10 0x11
both vt_mix -n "$lists" -O 14 -s 3
ok 'one in three acknowledges is lost'
same "$DEV_A" qp_errors
same "$DEV_B" qp_errors
