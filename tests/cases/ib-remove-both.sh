#!/bin/bash
# Both ends of cables go at the same time: switches and all their adapters are
# deleted at once, and a device moves to another namespace while the other end pulls
# the cable. Who was told that a device is gone hears nothing of it afterwards, and
# neither does ib_core.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

ENDS=$(by_kernel 12 8 4)
{
	printf 'switches:\n  sw0: {ports: %d}\n' "$ENDS"
	echo 'devices:'
	for ((i = 0; i < ENDS; i++)); do
		printf '  end%d:\n' $i
	done
	echo 'cables:'
	for ((i = 0; i < ENDS; i++)); do
		printf '  - [end%d, sw0/%d]\n' $i $((i + 1))
	done
} >/tmp/ends.yaml

at_once() {
	local i pids=()
	run ibctl fabric apply /tmp/ends.yaml
	for ((i = 0; i < ENDS; i++)); do
		((i != ENDS / 2)) || {
			ibctl switch del sw0 &
			pids+=($!)
		}
		ibctl dev del "end$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

ibctl -j monitor >/tmp/events &
monitor=$!
told() { # of something
	ibctl dev add first link ib && ibctl dev del first && [[ -s /tmp/events ]]
}
wait_until 20 told || fail 'the monitor tells nothing'
TIMES=$(by_kernel 6 4 1)
for ((i = 0; i < TIMES; i++)); do
	at_once
done
ended() {
	[[ $(jq -r 'select(.event == "del") | .name' /tmp/events | grep -c '^end') == $((ENDS * TIMES)) ]]
}
wait_until 10 ended || {
	cat /tmp/events
	fail 'the monitor does not tell of all that went'
}
kill $monitor
no_devices || fail 'devices are left'
jq -r '[.event, .name] | @tsv' /tmp/events | awk '
	$1 == "new" { delete gone[$2] }
	$1 == "del" { gone[$2] = 1 }
	$1 == "set" && $2 in gone { print "after its end: " $0; bad = 1 }
	END { exit bad }' || fail 'a device is told of that is gone'
ok "$TIMES switches and their $ENDS adapters deleted at once"

# The far end pulls the cable while a device moves to another namespace.
wait_until 20 rdma system set netns exclusive || fail 'netns mode exclusive'
run ibctl dev add far link ib
TIMES=$(by_kernel 20 10 4)
for ((i = 0; i < TIMES; i++)); do
	run ibctl dev add mover link ib
	run ibctl cable add far/1 mover/1
	port_is mover INIT || fail 'the cable did not bring the port up'
	run ip netns add X
	rdma dev set mover netns X &
	moving=$!
	sleep "0.0$((RANDOM % 10))"
	run ibctl cable del far/1
	wait $moving || fail 'the device can not move'
	state=$(ip netns exec X cat "$HW/mover/ports/1/state")
	[[ $state == *DOWN ]] || fail "the cable is out, and the port is $state"
	run ip netns exec X ibctl dev del mover
	run ip netns del X
done
run ibctl dev del far
wait_until 20 rdma system set netns shared || fail 'netns mode shared'
ok "$TIMES devices that move while their cable is pulled"
