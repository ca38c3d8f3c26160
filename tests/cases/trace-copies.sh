#!/bin/bash
# ibctl trace copies: what it says of bytes is what the counters say, and its proof
# tells buffers that are sent in place from such that are copied.
. "$(dirname "$0")/../lib-trace.sh"

# rows of the device and process that sent: one
sent() { q "map(select(.dev == \"$1\" and .path == \"$2\" and .comm == \"$3\" and (.bytes_referenced + .bytes_copied > 0))) | length == 1 and (.[0] | $4)"; }

# without the kernel's types it says so
cat >/tmp/untyped <<'E'
mount -t tmpfs none /sys/kernel/btf && exec ibctl trace copies --duration 1ms
E
modprobe softhca || fail 'no module'
refused unshare -m sh /tmp/untyped 2>/tmp/refusal
grep -q 'there is no /sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF)' /tmp/refusal || fail "refused with: $(cat /tmp/refusal)"
ok "without BTF: $(cat /tmp/refusal)"

topo 9000
n=$((4 * MIB))
for mtu in 1024 4096; do
	start copies --every 1
	xfer -o WRITE -n $MIB -T $n -b 4 -m $mtu
	stop
	sent "$DEV_A" wire vt_xfer ".bytes_referenced == $n and .bytes_copied == 0 and .sampled_messages > 0
		and .in_place_bytes == .sampled_bytes and .sampled_bytes == .sampled_messages * $MIB and .elsewhere_bytes == 0"
	ok "1 MiB WRITE, packets of $mtu: $(jq -c "select(.dev == \"$DEV_A\")" /tmp/copies)"
done

# what begins and ends within a page, and is not a multiple of anything
start copies --every 1
xfer -o SEND -n 4099,70001 -T 1000000 -m 1024
stop
sent "$DEV_A" wire vt_xfer '.sampled_messages > 0 and .in_place_bytes + .elsewhere_bytes == .sampled_bytes
	and .elsewhere_bytes <= 1023 * .sampled_messages and .in_place_bytes > 0'
ok "odd sizes: $(jq -c "select(.dev == \"$DEV_A\")" /tmp/copies)"

# small messages are copied, and the proof says so
start copies --every 1
xfer -o SEND -n 512 -T 16384 -m 1024
stop
sent "$DEV_A" wire vt_xfer '.bytes_copied == 16384 and .bytes_referenced == 0 and .sampled_messages > 0
	and .in_place_bytes == 0 and .elsewhere_bytes == .sampled_bytes'
ok 'small messages: copied'

# READ: the answering side references
start copies
xfer -o READ -n $MIB -T $n -b 4 -m 1024
stop
sent "$DEV_B" wire vt_xfer ".bytes_referenced == $n and .bytes_copied == 0"
ok 'READ: the responder references'

# the local path
start copies
alone vt_local overlap
stop
q "any(.dev == \"$DEV_A\" and .path == \"local\" and .bytes_copied > 0 and .bytes_referenced == 0)"
ok 'the local path copies once'

# for people
ibctl trace copies --every 1 >/tmp/text 2>/tmp/text.err &
TRACE=$!
wait_until 60 grep -q '^tracing' /tmp/text.err || fail "$(cat /tmp/text.err)"
xfer -o WRITE -n $MIB -T $n -b 4 -m 1024
kill -INT "$TRACE"
wait "$TRACE" || fail "ended with $?: $(cat /tmp/text.err)"
grep -q "^$DEV_A" /tmp/text || fail "$(cat /tmp/text)"
ok 'columns for a pipe'
