#!/bin/bash
# ibctl capture: every packet of a device, both ways, repeats included; each with
# its queue pair and process; tshark finds InfiniBand in it and nothing malformed.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-capture.sh"

# complete: as many packets as the device has counted, and all are InfiniBand
complete() {
	as_counted
	fields /tmp/c.pcapng infiniband.bth.opcode infiniband.bth.destqp frame.comment _ws.malformed >/tmp/c.txt
	[[ $(grep -cE '^[0-9]+;0x[0-9a-f]+;shca0: .*;$' /tmp/c.txt) == "$WRITTEN" ]] || {
		grep -vE '^[0-9]+;0x[0-9a-f]+;shca0: .*;$' /tmp/c.txt | head
		fail 'not every packet is InfiniBand with a comment'
	}
}

# commented PATTERN N: so many packets have such a comment
commented() {
	local n
	n=$(grep -cE "$1" /tmp/c.txt)
	((n == $2)) || fail "$n packets are '$1', not $2"
}

# only_roce QDISC: what leaves A by our UDP port goes through it, nothing else
only_roce() {
	run A tc qdisc add dev va root handle 1: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
	# shellcheck disable=SC2086 # words
	run A tc qdisc add dev va parent 1:2 $1
	run A tc filter add dev va parent 1: protocol ip u32 match ip protocol 17 0xff \
		match ip dport 4791 0xffff flowid 1:2
}

# refused_packets: received since snap and dropped, such as repeats for a queue
# pair that has gone; they are no rx_packets
refused_packets() {
	local file sum=0
	for file in "/tmp/snap/$DEV_A"/rx_drop_*; do
		sum=$((sum + $(grown "$DEV_A" "${file##*/}")))
	done
	printf '%s\n' "$sum"
}

topo 1500
for op in WRITE READ SEND; do
	start
	xfer -o $op -n 65536 -T $((MIB / 4)) -m 1024
	stop
	healthy
	complete
	commented 'shca0: sent by QPN [0-9]+ of vt_xfer \([0-9]+\);$' "$(grown "$DEV_A" tx_packets)"
	commented 'shca0: received by QPN [0-9]+ of vt_xfer \([0-9]+\);$' "$(grown "$DEV_A" rx_packets)"
	ok "$op: $WRITTEN packets"
done

# IPv6, and queue pair 1
start
rping_pair B A "$IP6_B" -C 5 -S 2000
stop
complete
commented 'received by QPN 1 of ib_core' "$(awk -F';' '$2 == "0x000001" && /received/' /tmp/c.txt | wc -l)"
grep -q 'received by QPN 1 ' /tmp/c.txt || fail 'no datagrams of rdma_cm'
ok "rping over IPv6: $WRITTEN packets"

# repeats; packet by packet, else netem takes a burst for one
run ibctl dev set "$DEV_A" burst 1
only_roce 'netem limit 20000 loss 3%'
start
xfer -o WRITE -n 65536 -T $((MIB / 2)) -m 1024 -O 14
stop
dropped=$(A tc -s qdisc show dev va | sed -n '/netem/,$s/.*dropped \([0-9]*\).*/\1/p' | head -1)
run A tc qdisc del dev va root
# what the interface's queue drops leaves the device and not the host
n=$(($(grown "$DEV_A" tx_packets) + $(grown "$DEV_A" rx_packets) + $(refused_packets) - dropped))
((WRITTEN == n)) || fail "$WRITTEN packets written, should be $n ($dropped dropped)"
fields /tmp/c.pcapng infiniband.bth.psn frame.comment >/tmp/c.txt
again=$(grown "$DEV_A" tx_retransmits)
((again > 0)) || fail 'nothing was sent again'
n=$(grep -c 'sent by .*, sent again$' /tmp/c.txt)
((n > 0 && n <= again)) || fail "$n repeats in the capture, $again counted"
ok "loss: $n of $again repeats are marked (netem dropped the others, or their first)"

# one queue pair, cut, in a ring of files
start --qpn 1 --snap 96 --file-size 300 --files 2
rping_pair B A "$IP_B" -C 2
stop
mapfile -t names < <(ls /tmp/c.*.pcapng)
((${#names[@]} == 2)) || fail "files: ${names[*]}"
for f in "${names[@]}"; do
	fields "$f" frame.cap_len frame.comment >>/tmp/ring.txt
done
awk -F';' '$1 > 96 || $2 !~ /QPN 1 of ib_core/ { bad = 1; print } END { exit bad || !NR }' /tmp/ring.txt ||
	fail 'the ring has other packets'
ok "a ring of files, $(wc -l </tmp/ring.txt) packets left in it"

# two queue pairs of one device: packets while somebody captures, else none
alone_xfer() {
	pair_of A "vt_xfer -d $DEV_A -g $IP_A -s" \
		A vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_A" -o WRITE -n 65536 -T $((MIB / 8)) -m 1024
}
start
alone_xfer
stop
same "$DEV_A" local_packets
n=$(grown "$DEV_A" tx_packets)
((n >= MIB / 8 / 1024 && WRITTEN == n)) || fail "$WRITTEN packets written, $n sent"
capinfos -k /tmp/c.pcapng >/tmp/o
grep -q 'two of its queue pairs were sent as packets' /tmp/o || fail "the file does not say so: $(cat /tmp/o)"
snap "$DEV_A"
alone_xfer
same "$DEV_A" tx_packets
(($(grown "$DEV_A" local_packets) > 0)) || fail 'no local path without a capture'
ok "within one device: $n packets while they are captured"

refused ibctl capture "$DEV_A" -w /no/such/folder/c.pcapng
refused setpriv --bounding-set=-net_raw --inh-caps=-all ibctl capture "$DEV_A" -w /tmp/c.pcapng --duration 1s
ok 'refusals'
