#!/bin/bash
# Zero copy seen from outside: for each packet that the kernel hands to va, the
# page frames of its fragments are those of the program's own buffer.
#
# vt_xfer -P writes the page frames of its buffer, from its pagemap. The probe
# knows nothing of softhca.
. "$(dirname "$0")/../lib-verbs.sh"

[[ -e /sys/kernel/btf/vmlinux ]] || skip 'this kernel has no BTF'

total=$((64 * MIB))

probe_start() {
	rm -f /tmp/frags /tmp/frags.err
	# a key for each packet of the buffers, 4096 by default
	BPFTRACE_MAP_KEYS_MAX=131072 bpftrace -B line "$(dirname "$0")/../probes/frags.bt" >/tmp/frags 2>/tmp/frags.err &
	PROBE=$!
	wait_until 150 grep -q "^probing" /tmp/frags || {
		cat /tmp/frags.err
		fail 'bpftrace does not start'
	}
}

probe_stop() {
	kill -INT "$PROBE"
	wait "$PROBE"
	grep -vE '^$' /tmp/frags.err && fail 'bpftrace had something to say'
	grep -q '^@skbs' /tmp/frags || fail 'the probe was cut off'
}

topo 9000
for mtu in 1500 9000; do
	A ip link set va mtu "$mtu"
	B ip link set vb mtu "$mtu"
	probe_start
	xfer -o WRITE -n $MIB -T "$total" -b 16 -P /tmp/pfns \
		-m $((mtu == 1500 ? 1024 : 4096))
	probe_stop
	awk -v total="$total" -f "$(dirname "$0")/../probes/frags.awk" \
		/tmp/pfns /tmp/frags || fail "MTU $mtu: see above"
	ok "MTU $mtu: the fragments are the buffer's own pages"
done
