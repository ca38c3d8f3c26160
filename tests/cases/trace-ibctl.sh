#!/bin/bash
# ibctl trace: latency, flow, errors and timeline agree with what programs and
# counters say, end cleanly under load and leave nothing behind.
. "$(dirname "$0")/../lib-trace.sh"

refused ibctl trace errors nosuch
topo 1500

# --- latency --------------------------------------------------------------------

start latency "$DEV_A" --comm ib_read_lat
perf_pair ib_read_lat -s 64 -n 500
stop
# the tool's own median, from before the post until after the poll, in us: its average
# leaves out the longest, and a busy host makes these very long
typical=$(awk '$1 == 64 { print $5 }' /tmp/perftest)
q 'map(select(.stage == "total" and .opcode == "READ" and .max_bytes == 64)) | length == 1'
q 'map(select(.opcode == "READ")) | all(.count >= 500)'
q 'map(select(.opcode == "READ")) | (map(select(.stage | IN("queue", "ack", "cqe")).mean_ns) | add) as $parts
	| map(select(.stage == "total"))[0].mean_ns as $all | ($parts - $all) | fabs < 3'
q 'all(.p50_ns <= .p99_ns and .p99_ns <= .p999_ns and .p999_ns <= .max_ns)'
q 'all((.octaves | map(.count) | add) == .count)'
# a bucket of the histogram is 6 % wide
q "map(select(.opcode == \"READ\" and .stage == \"total\"))[0].p50_ns / 1000 | . < $typical * 1.06 and . > $typical / 2"
ok "latency: $(jq -s -c 'map([.stage, .p50_ns])' /tmp/latency); ib_read_lat says $typical us"

# From post to poll it is what the tool itself measures, within a tenth: of messages
# that take long, since the tool's time has the probes in it, and of the median,
# since a busy host stretches some.
start latency "$DEV_A" --user
perf_pair ib_read_lat -s 65536 -n 200
stop
typical=$(awk '$1 == 65536 { print $5 }' /tmp/perftest)
q 'map(select(.opcode == "READ" and .max_bytes == 65536)) | map(.stage) | sort
	== ["ack", "cqe", "poll", "post", "queue", "total", "user"]'
q 'map(select(.opcode == "READ")) | map(select(.stage | IN("user", "poll", "post"))) | all(.count >= 199)'
q "map(select(.opcode == \"READ\" and .stage == \"user\"))[0].p50_ns / 1000 / $typical | . > 0.9 and . < 1.1"
ok "latency --user: $(jq -s -c 'map([.stage, .p50_ns])' /tmp/latency); ib_read_lat says $typical us"

# --- flow -----------------------------------------------------------------------

start flow --interval 500ms
xfer -o WRITE -n 65536 -T $MIB -m 1024
stop
q "map(select(.dev == \"$DEV_A\" and .comm == \"vt_xfer\")) | last | .tx_messages == 16 and .tx_bytes == $MIB
	and .tx_bytes_referenced == $MIB and .tx_bytes_copied == 0 and .errors == 0 and .pid > 0"
q "any(.dev == \"$DEV_A\" and .comm == \"vt_xfer\" and .dgid == \"::ffff:$IP_B\" and .dest_qpn > 0)"
start flow --comm nobody --interval 500ms
xfer -o SEND -n 4096 -T 65536
stop
q 'length == 0'
ok 'flow: messages, bytes, owner and peer; the filter holds'

# --- errors ---------------------------------------------------------------------

start errors
both vt_errors access
printf 'this is no packet of InfiniBand' | A socat - "UDP:$IP_B:4791"
stop
q 'any(.comm == "vt_errors" and (.text | startswith("The peer refused access to its memory")))'
q 'any(.event == "ack_receive" and (.text | contains("NAK, remote access error")))'
q 'any(.event == "ack_send" and (.text | startswith("We refused")))'
q 'any(.text | startswith("A posted work request names local memory that its lkey does not"))'
q "any(.dev == \"$DEV_B\" and (.text | contains(\"no RoCEv2 packet\")))"
ok "errors: $(wc -l </tmp/errors) of them, in words"

# --- timeline -------------------------------------------------------------------

start timeline "$DEV_A" -o /tmp/timeline.json
xfer -o SEND -n 4096 -T 65536
stop
# shellcheck disable=SC2034 # for q
KIND=timeline.json
q '.[0].traceEvents | map(select(.ph == "X" and .name == "SEND 4096")) | length == 16
	and all(.dur > 0 and .args.status == "SUCCESS")'
q '.[0].traceEvents | any(.ph == "M" and .name == "thread_name" and (.args.name | contains("vt_xfer/")))'
q '.[0].traceEvents | any(.ph == "i" and .name == "RTR to RTS")'
ok 'timeline: a slice a message'

# --- under load -----------------------------------------------------------------

snap "$DEV_A"
# longer than the five traces take to begin: a minute is too short on Debian 13
perf_pair ib_write_bw -s 64 -D "$([[ $LAB_SUITE == bookworm ]] && echo 60 || echo 150)" &
load=$!
busy() { (($(grown "$DEV_A" tx_packets) > 500)); }
wait_until 20 busy || fail 'no load'
ended_under_load() {
	kill -0 "$load" || fail "trace $KIND ended with the load, not before"
}
for kind in latency flow errors; do
	start $kind
	stop
	ended_under_load
done
# these two have more to tell than anybody can read
start timeline -o /tmp/timeline.json
stop '[0-9]+ events were lost'
ended_under_load
start copies --every 1
stop '[0-9]+ records of samples were lost'
ended_under_load
wait "$load" || fail 'the load did not survive the traces'
ok 'attached and detached under load'
