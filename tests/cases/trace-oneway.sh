#!/bin/bash
# The stages of a traced ib_send_lat -e agree, within a tenth, with the latency that
# it prints itself (T84). That is one way: from the post on one side until the message
# is polled on the other.
. "$(dirname "$0")/../lib-trace.sh"

# of both directions, in ns
readonly MEAN='def mean(op; st): map(select(.opcode == op and .stage == st)) | (map(.mean_ns * .count) | add) / (map(.count) | add);
	def parts: mean("SEND"; "post") + mean("RECV"; "deliver") + mean("RECV"; "poll");'

# agrees SIZE: the stages' sum is the average that the tool prints
agrees() {
	start latency --user --comm ib_send_lat
	perf_pair ib_send_lat -e -s "$1" -n 1000
	stop
	# one way, in us
	read -r avg typical < <(awk -v s="$1" '$1 == s { print $6, $5 }' /tmp/perftest)
	q 'map(select(.opcode == "RECV")) | map(.stage) | unique == ["deliver", "poll", "user"]'
	q 'map(select(.opcode == "RECV" and .stage == "user")) | length == 2 and all(.count >= 990)'
	# post, delivery and poll make up the way
	q "$MEAN parts / mean(\"RECV\"; \"user\") | . > 0.97 and . < 1.03"
	echo "$1 bytes: $(jq -s -c "$MEAN [mean(\"SEND\"; \"post\"), mean(\"RECV\"; \"deliver\"), mean(\"RECV\"; \"poll\"), parts]" /tmp/latency) ns;" \
		"ib_send_lat says $avg us, typically $typical us"
	jq -es "$MEAN parts / 1000 / $avg | . > 0.9 and . < 1.1" /tmp/latency >/dev/null
}

topo 1500
for size in 64 4096; do
	# the tool leaves its two longest out of the average; on a busy host these alone
	# may be a tenth, so it may be tried again
	agrees $size || agrees $size || agrees $size || fail "$size bytes: not within a tenth, three times"
	ok "$size bytes: within a tenth"
done
