#!/bin/bash
# Counters of queue pairs by rdma statistic: bound by hand and by themselves, and the
# port's stay what they are (T83).
. "$(dirname "$0")/../lib-verbs.sh"

# stat DEVICE: its counters as JSON
stat() { rdma -j statistic qp show link "$1" | tee /tmp/stat; }

# of DEVICE NAME: a value of its only counter
of() { stat "$1" | jq -er ".[0].$2" || fail "$1 has no $2: $(cat /tmp/stat)"; }

# port DEVICE NAME: as rdma statistic shows it for the port; also in sysfs
port() { rdma -j statistic show link "$1/1" | jq -er ".[0].$2"; }

topo 1500
n=$MIB

# by themselves
run rdma statistic qp set link "$DEV_A/1" auto type on
[[ $(rdma statistic qp mode link "$DEV_A/1") == *'auto type on'* ]] || fail "mode: $(rdma statistic qp mode link "$DEV_A/1")"
snap "$DEV_A"
hold "$DEV_A"
stat "$DEV_A" | jq -e 'length == 1 and .[0]["qp-type"] == "RC" and (.[0].lqpn | length) > 0' >/dev/null ||
	fail "auto: $(cat /tmp/stat)"
for name in tx_packets rx_packets tx_bytes_referenced tx_bytes_copied tx_retransmits rx_rnr_naks ack_timeouts; do
	of "$DEV_A" $name >/dev/null
done
jq -e '.[0] | keys - ["ifindex", "ifname", "port", "cntn", "qp-type", "lqpn", "pid", "comm"] | length == 7' /tmp/stat >/dev/null ||
	fail "it has more: $(cat /tmp/stat)"
let_go
stat "$DEV_A" | jq -e 'length == 0' >/dev/null || fail "it is left: $(cat /tmp/stat)"
ok 'auto: a counter for the type, gone with its QPs'

# the port includes what counters have counted, of QPs that live and that are gone
snap "$DEV_A"
was=$(port "$DEV_A" tx_packets)
xfer -o WRITE -n 65536 -T $n -m 1024
for _ in 1 2; do
	now=$(port "$DEV_A" tx_packets)
	grew=$(grown "$DEV_A" tx_packets)
	((grew == n / 1024)) || fail "tx_packets in sysfs grew by $grew, not by $((n / 1024))"
	((now - was == grew)) || fail "rdma statistic: $was, then $now; sysfs grew by $grew"
	(($(grown "$DEV_A" tx_bytes_referenced) == n)) || fail "referenced: $(grown "$DEV_A" tx_bytes_referenced)"
	sleep 0.05 # the values are kept for 10 ms
done
run rdma statistic qp set link "$DEV_A/1" auto off
ok 'the port has them once'

# by hand: what comes after the binding counts
hold "$DEV_A"
qpn=$(ibctl -j qp list "$DEV_A" | jq -r 'map(select(.type == "rc" or .type == "RC"))[0].qpn')
run rdma statistic qp bind link "$DEV_A/1" lqpn "$qpn"
stat "$DEV_A" | jq -e "length == 1 and .[0].lqpn == [$qpn] and .[0].tx_packets == 0" >/dev/null || fail "bound: $(cat /tmp/stat)"
cntn=$(jq -r '.[0].cntn' /tmp/stat)
refused rdma statistic qp bind link "$DEV_A/1" lqpn "$qpn"
run rdma statistic qp unbind link "$DEV_A/1" cntn "$cntn" lqpn "$qpn"
stat "$DEV_A" | jq -e 'length == 0' >/dev/null || fail "unbound: $(cat /tmp/stat)"
run rdma statistic qp bind link "$DEV_A/1" lqpn "$qpn"
let_go
ok "by hand: QP $qpn bound, unbound and bound again until it is destroyed"

# some at once: one of them
index=$(rdma -j dev show "$DEV_A" | jq -er '.[0].ifindex') || fail 'no index'
run vt_bind -d "$DEV_A" -n "$(by_kernel 2000 300 500)" "$index"
stat "$DEV_A" | jq -e 'length == 0' >/dev/null || fail "it is left: $(cat /tmp/stat)"
ok 'threads that bind one queue pair at once: one of them does'
