#!/bin/bash
# Both ends on one device: one copy from region to region, nothing on a wire.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
snap "$DEV_A"
pair_of A "vt_xfer -d $DEV_A -g $IP_A -s" \
	A vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_A" -o WRITE,READ,SEND \
	-n 65536 -T "$(by_kernel 4194304 4194304 262144)"
same "$DEV_A" tx_packets rx_packets tx_bytes_referenced tx_bytes_copied qp_errors
moved=$(grown "$DEV_A" local_bytes_copied)
((moved == 3 * $(by_kernel 4194304 4194304 262144))) ||
	fail "local_bytes_copied grew by $moved"
ok 'one copy, no packet'
pair_of A "vt_xfer -d $DEV_A -g $IP_A -s" \
	A vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_A" -n 0-64,1023-1025,4099 -b 64 -S 3
for test in access rnr blackhole; do
	alone vt_errors "$test"
done
alone vt_ud
alone vt_flush
alone vt_zero
alone vt_events -n "$(by_kernel 5000 2000 500)"
alone vt_rewrite -n "$(by_kernel 50 50 3)"
alone vt_self -n "$(by_kernel 5 5 1)"
ok 'the same answers as over the wire'
