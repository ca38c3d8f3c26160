#!/bin/bash
# The stages of a traced ib_send_lat -e agree, within a tenth, with the latency that
# it prints itself (T84). That is one way: from the post on one side until the message
# is polled on the other.
. "$(dirname "$0")/../lib-trace.sh"

# stage OPCODE STAGE: mean in ns over all queue pairs
topo 1500
for size in 64 4096; do
	start latency --user --comm ib_send_lat
	perf_pair ib_send_lat -e -s $size -n 1000
	stop
	# average and typical one way, in us
	read -r avg typical < <(awk -v s=$size '$1 == s { print $6, $5 }' /tmp/perftest)
	q 'map(select(.opcode == "RECV")) | map(.stage) | unique == ["deliver", "poll", "user"]'
	q 'map(select(.opcode == "RECV" and .stage == "user")) | length == 2 and all(.count >= 990)'
	# of both directions: post, delivery, poll; they make up the way
	q 'def mean(op; st): map(select(.opcode == op and .stage == st)) | (map(.mean_ns * .count) | add) / (map(.count) | add);
		(mean("SEND"; "post") + mean("RECV"; "deliver") + mean("RECV"; "poll")) / mean("RECV"; "user") | . > 0.97 and . < 1.03'
	q "def mean(op; st): map(select(.opcode == op and .stage == st)) | (map(.mean_ns * .count) | add) / (map(.count) | add);
		(mean(\"SEND\"; \"post\") + mean(\"RECV\"; \"deliver\") + mean(\"RECV\"; \"poll\")) / 1000 / $avg | . > 0.9 and . < 1.1"
	ok "$size bytes: $(jq -s -c 'map(select(.stage | IN("post", "deliver", "poll", "user")) | [.opcode, .stage, .mean_ns, .p50_ns])' /tmp/latency); ib_send_lat says $avg us, typically $typical us"
done
