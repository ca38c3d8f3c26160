#!/bin/bash
# Zero copy by the counters: 64 MiB in RC packets of 1 KiB (MTU 1500) and 4 KiB
# (MTU 9000) leave without one byte copied, and are copied once on receive.
. "$(dirname "$0")/../lib-verbs.sh"

total=$(by_kernel $((64 * MIB)) $((64 * MIB)) $((2 * MIB)))

# exactly DEVICE NAME BYTES
exactly() {
	local n
	n=$(grown "$1" "$2")
	((n == $3)) || fail "$op at MTU $mtu: $1 $2 grew by $n, not by $3"
}

topo 9000
for mtu in 1500 9000; do
	A ip link set va mtu "$mtu"
	B ip link set vb mtu "$mtu"
	for op in WRITE READ SEND; do
		from=$DEV_A to=$DEV_B
		[[ $op == READ ]] && from=$DEV_B to=$DEV_A
		snap "$DEV_A"
		snap "$DEV_B"
		xfer -o "$op" -n $MIB -T "$total" -b 16 -m $((mtu == 1500 ? 1024 : 4096))
		healthy
		exactly "$from" tx_bytes_copied 0
		exactly "$from" tx_bytes_referenced "$total"
		exactly "$to" rx_bytes_copied "$total"
		exactly "$from" local_bytes_copied 0
		exactly "$to" tx_bytes_referenced 0
		ok "$op, MTU $mtu: $total bytes referenced, none copied"
	done
done
