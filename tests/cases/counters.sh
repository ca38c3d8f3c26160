#!/bin/bash
# Counters add up: sysfs as node_exporter reads it, rdma statistic, per queue
# pair and for Prometheus; and every file in sysfs can be read anywhere.
. "$(dirname "$0")/../lib-verbs.sh"

# c DEVICE NAME: one of counters/, the performance agent's
c() { cat "$HW/$1/ports/1/counters/$2"; }

topo 1500

# --- what one sends the other receives (T80) ------------------------------------

names=(port_xmit_data port_xmit_packets port_rcv_data port_rcv_packets)
declare -A was
for dev in "$DEV_A" "$DEV_B"; do
	for n in "${names[@]}"; do
		was[$dev.$n]=$(c $dev $n)
	done
	snap $dev
done
xfer -o WRITE -n 65536 -T $MIB -m 1024
delta() { echo $(($(c "$1" "$2") - was[$1.$2])); }
for n in data packets; do
	for pair in "$DEV_A $DEV_B" "$DEV_B $DEV_A"; do
		read -r from to <<<"$pair"
		x=$(delta "$from" port_xmit_$n) r=$(delta "$to" port_rcv_$n)
		((x == r && x > 0)) || fail "$from port_xmit_$n grew by $x, $to port_rcv_$n by $r"
	done
done
# in units of four bytes: a MiB in 1024 packets, with 12 to 28 bytes of headers each
x=$(($(delta "$DEV_A" port_xmit_data) * 4))
((x > MIB + 1024 * 12 && x < MIB + 1024 * 40)) || fail "$x bytes were sent for a MiB"
(($(delta "$DEV_A" port_xmit_packets) == $(grown "$DEV_A" tx_packets))) || fail 'counters and hw_counters differ'
ok "port_xmit_data and _packets of one are port_rcv_ of the other"

rdma -j statistic show link "$DEV_A/1" >/tmp/stat.json || fail 'rdma statistic'
for n in tx_packets tx_bytes rx_packets tx_bytes_referenced; do
	v=$(jq ".[0].$n" /tmp/stat.json)
	[[ $v == "$(counter "$DEV_A" $n)" ]] || fail "rdma statistic says $v for $n"
done
ok 'rdma statistic shows the same'

# --- node_exporter, which multiplies data by four -----------------------------------

prometheus-node-exporter --collector.disable-defaults --collector.infiniband --web.listen-address=127.0.0.1:9100 2>/tmp/exporter &
exporter=$!
scrape() {
	python3 -c 'import urllib.request as r; print(r.urlopen("http://127.0.0.1:9100/metrics").read().decode())' \
		>/tmp/metrics 2>/dev/null
}
wait_until 30 scrape || fail "node_exporter: $(cat /tmp/exporter)"
grep -qx 'node_scrape_collector_success{collector="infiniband"} 1' /tmp/metrics || fail "its collector fails: $(cat /tmp/exporter)"
for dev in "$DEV_A" "$DEV_B"; do
	for names in port_data_transmitted_bytes:port_xmit_data:4 port_data_received_bytes:port_rcv_data:4 \
		port_packets_transmitted:port_xmit_packets:1 port_packets_received:port_rcv_packets:1 \
		link_downed:link_downed:1 port_errors_received:port_rcv_errors:1; do
		IFS=: read -r metric file factor <<<"$names"
		v=$(awk -v m="node_infiniband_${metric}_total{device=\"$dev\",port=\"1\"}" '$1 == m { printf "%d", $2 }' /tmp/metrics)
		[[ $v == "$(($(c "$dev" "$file") * factor))" ]] || fail "node_exporter says '$v' for $metric of $dev, sysfs $(c "$dev" "$file")"
	done
done
ok "node_exporter: $(grep -c '^node_infiniband' /tmp/metrics) metrics"
kill "$exporter"
wait "$exporter" 2>/dev/null

# --- per queue pair (T83) -------------------------------------------------------

for dev in "$DEV_A" "$DEV_B"; do
	snap $dev
done
B ib_write_bw -d "$DEV_B" -x "$(gid_index "$DEV_B" "$IP_B")" -F -q 2 -s 4096 -D 60 >/dev/null 2>&1 &
server=$!
wait_until 20 listening 18515 B || fail 'ib_write_bw does not listen'
A ib_write_bw -d "$DEV_A" -x "$(gid_index "$DEV_A" "$IP_A")" -F -q 2 -s 4096 -D 60 "$IP_B" >/dev/null 2>&1 &
client=$!
busy() { (($(grown "$DEV_A" tx_bytes_referenced) > MIB)); }
wait_until 30 busy || fail 'no traffic'
pkill -STOP -x ib_write_bw
pid=$(pgrep -of "ib_write_bw -d $DEV_A .* $IP_B")
quiet() {
	local n
	n=$(grown "$DEV_A" rx_packets)
	sleep 0.3
	(($(grown "$DEV_A" rx_packets) == n))
}
wait_until 10 quiet || fail 'the traffic does not stop'
for dev in "$DEV_A" "$DEV_B"; do
	ibctl -j qp list $dev | jq 'map(select(.type == "rc"))' >/tmp/qps.json
	for pair in tx_packets:tx_packets rx_packets:rx_packets retransmits:tx_retransmits \
		tx_bytes_referenced:tx_bytes_referenced tx_bytes_copied:tx_bytes_copied ack_timeouts:ack_timeouts; do
		v=$(jq "map(.${pair%:*}) | add" /tmp/qps.json)
		((v == $(grown $dev "${pair#*:}"))) ||
			fail "$dev: queue pairs have ${pair%:*} $v, the device $(grown $dev "${pair#*:}")"
	done
done
jq -e "length == 2 and all(.rx_messages == 0 and .rx_bytes > 0)" /tmp/qps.json >/dev/null || fail "$(cat /tmp/qps.json)"
ibctl -j qp list "$DEV_A" | jq 'map(select(.type == "rc"))' >/tmp/qps.json
jq -e "length == 2 and all(.tx_messages > 0 and .tx_bytes >= .tx_messages * 4096 and .comm == \"ib_write_bw\"
	and .pid == $pid)" /tmp/qps.json >/dev/null || fail "pid $pid: $(cat /tmp/qps.json)"
rdma -j resource show qp link "$DEV_A/1" >/tmp/rdma.json
jq -e --slurpfile ours /tmp/qps.json '
	map(select(.type == "RC")) as $theirs | $theirs | length == 2
	and all(. as $q | $ours[0] | any(.qpn == $q.lqpn and .pid == $q.pid and .comm == $q.comm
		and (.state | ascii_upcase) == $q.state and .dest_qpn == $q.rqpn))' /tmp/rdma.json >/dev/null ||
	fail "rdma resource and ibctl differ: $(cat /tmp/rdma.json /tmp/qps.json)"
ok 'queue pairs add up to their device; owners as rdma resource has them'

# --- for Prometheus -------------------------------------------------------------

ibctl stats --prometheus >/tmp/prom || fail 'no metrics'
grep -vE '^(# (HELP|TYPE) softhca_[a-z0-9_]+ .+|softhca_[a-z0-9_]+\{([a-z]+="[^"]*",?)+\} [0-9]+)$' /tmp/prom &&
	fail 'lines that are no metrics'
awk '/^# TYPE/ { if (seen[$3]++) { print "twice: " $3; bad = 1 } name = $3 }
	/^softhca/ { split($0, n, "{"); if (n[1] != name) { print "out of place: " $0; bad = 1 } }
	END { exit bad }' /tmp/prom || fail 'metrics are mixed up'
v=$(sed -n "s/^softhca_tx_bytes_total{device=\"$DEV_A\",port=\"1\"} //p" /tmp/prom)
((v == $(counter "$DEV_A" tx_bytes))) || fail "tx_bytes is $v"
grep -q "^softhca_qp_tx_messages_total{device=\"$DEV_A\",qpn=\"[0-9]*\",type=\"rc\",pid=\"$pid\",comm=\"ib_write_bw\"} [1-9]" \
	/tmp/prom || fail 'no queue pair'
ok "$(grep -c '^softhca' /tmp/prom) metrics"

ibctl -j top --by process --count 1 --interval 300ms |
	jq -e "any(.comm == \"ib_write_bw\" and .pid == $pid and .qps == 2 and .tx_bytes_s == 0)" >/dev/null ||
	fail 'top of processes that are stopped'
pkill -CONT -x ib_write_bw
ibctl -j top --count 1 --interval 1s |
	jq -e "any(.dev == \"$DEV_A\" and .comm == \"ib_write_bw\" and .tx_bytes_s > 0 and .tx_messages_s > 0)" >/dev/null ||
	fail 'top of processes that work'
ok 'top'
pkill -x ib_write_bw
wait $client $server 2>/dev/null

# --- every file, from anywhere, by anybody (T82) ----------------------------------

cat >/tmp/readall.py <<'EOF'
import os, sys, errno
n = 0
for folder, folders, files in os.walk(sys.argv[1]):
    # power management's own, the same of every device
    folders[:] = [f for f in folders if f != "power"]
    for name in files:
        path = os.path.join(folder, name)
        if not os.access(path, os.R_OK):
            continue
        try:
            open(path, "rb").read()
        except OSError as e:
            # an entry of the GID table without a GID
            if e.errno != errno.EINVAL or "/gid_attrs/" not in path:
                sys.exit(f"{path}: {e}")
        n += 1
print(n, "files")
if n < 100:
    sys.exit("too few")
EOF
for how in A "unshare -n" "setpriv --reuid=65534 --regid=65534 --clear-groups"; do
	out=$($how python3 /tmp/readall.py "$(readlink -f "$HW/$DEV_A")" 2>&1) || fail "$how: $out"
	ok "read as '$how': $out"
done
