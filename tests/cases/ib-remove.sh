#!/bin/bash
# Cables are pulled and devices and switches deleted in a random order (SEED, the
# first argument of RANDOM), two at a time, under RC, UD, IPoIB and subnet
# management traffic: none of it takes long, and what comes back works.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

SEED=${SEED:-20261129}
ROUNDS=$(by_kernel 6 3 1) STEPS=$(by_kernel 6 4 2)
# where a program takes a minute to begin: its limit, its messages, the wait for it
LIMIT=$(by_kernel 40 40 200) MESSAGES=$(by_kernel 200 200 10) BACK=$(by_kernel 100 100 500)
RANDOM=$SEED
echo "seed $SEED"

#	shca0 - sw0/1    sw1/1 - shca2
#	shca1 - sw0/2    sw1/2 - shca3      two trunks: 3, 4
DEVS=(shca0 shca1 shca2 shca3)
CABLES=('shca0/1 sw0/1' 'shca1/1 sw0/2' 'shca2/1 sw1/1' 'shca3/1 sw1/2' 'sw0/3 sw1/3' 'sw0/4 sw1/4')
PLUGS=(shca{0,1,2,3}/1 sw{0,1}/{1,2,3,4})

# op COMMAND...: an operation may be refused, but may not take long. ib_core
# waits for the answers of a subnet manager that is not there: 4 times 3 s.
op() {
	local rc=0 start=$SECONDS
	timeout 30 "$@" >/dev/null 2>&1 || rc=$?
	((SECONDS - start < 5)) || echo "$* took $((SECONDS - start)) s"
	if ((rc == 124 || rc == 137)); then
		touch /tmp/hung
		echo w >/proc/sysrq-trigger # who is blocked, to the log
	fi
}

whole() { # what is missing is made
	local i cable
	for i in 0 1; do
		ibctl switch show "sw$i" >/dev/null 2>&1 || run ibctl switch add "sw$i" ports 4
	done
	for i in "${DEVS[@]}"; do
		[[ -e /sys/class/infiniband/$i ]] || run ibctl dev add "$i" link ib
	done
	for cable in "${CABLES[@]}"; do
		# shellcheck disable=SC2086 # two ends
		ibctl cable list | grep -qw -e "${cable% *}" || run ibctl cable add $cable
	done
}

manager() { # a new one: the device of the old may have gone
	[[ ! -e $OSM_DIR/shca0/pid ]] || osm_stop shca0 KILL 2>/dev/null
	osm_start shca0 --sweep 1
}

# One CPU has to do the removing as well.
for_ever() {
	renice -n 5 "$BASHPID" >/dev/null
	while :; do
		"$@" >"/tmp/$1.log" 2>&1 || {
			echo "ended with $? at $SECONDS s" >>"/tmp/$1.log"
			cp "/tmp/$1.log" "/tmp/$1.last"
			sleep 0.1
		}
	done
}

# pair PORT SERVER-DEVICE CLIENT-DEVICE COMMAND...: once; none waits for another
# whose device has gone
pair() {
	local port=$1 server=$2 client=$3 pid
	shift 3
	timeout "$LIMIT" "$@" -p "$port" -d "$server" &
	pid=$!
	until listening "$port"; do
		kill -0 $pid || return 1
		sleep 0.2
	done
	timeout "$LIMIT" "$@" -p "$port" -d "$client" 127.0.0.1 || kill $pid
	wait $pid
}

rc_traffic() { pair 7001 shca1 shca2 ib_send_bw -F -e -s 65536 -n "$MESSAGES"; }
ud_traffic() { pair 7002 shca3 shca0 ibv_ud_pingpong -e -n $((MESSAGES * 10)); }
mad_traffic() { timeout 10 ibnetdiscover -C shca3 -P 1; }

ip_traffic() {
	local i
	for i in /sys/class/net/ib*; do
		ip link set "${i##*/}" up
		timeout 3 ping -q -i 0.2 -s 1000 "ff02::1%${i##*/}" &
	done
	wait
}

state() { # what there is to know of the fabric and of who uses it
	local dev f
	ibctl dev list
	ibctl cable list
	for dev in "${DEVS[@]}"; do
		ibctl qp list "$dev"
		ibctl stats "$dev" | grep -v '[[:blank:]]0$'
	done
	on shca0 ibtracert "$(lid_of shca1)" "$(lid_of shca2)"
	for f in /tmp/rc_traffic.* /tmp/ud_traffic.*; do
		echo "-- $f"
		cat "$f"
	done
	ps --ppid 2 -p 2 --deselect -o pid,ppid,ni,stat,time,wchan:20,args
	osm_log
}

draw() { # one of the operations, to OP
	case $((RANDOM % 8)) in
	0 | 1) OP=(ibctl dev del "${DEVS[RANDOM % 4]}") ;;
	2) OP=(ibctl switch del "sw$((RANDOM % 2))") ;;
	3) OP=(ibportstate -C "${DEVS[RANDOM % 4]}" -P 1 -D "0,$((1 + RANDOM % 2))" 4 reset) ;;
	*) OP=(ibctl cable del "${PLUGS[RANDOM % 12]}") ;;
	esac
}

run modprobe ib_ipoib
whole
manager
active "${DEVS[@]}"
for_ever rc_traffic &
for_ever ud_traffic &
for_ever mad_traffic &
for_ever ip_traffic &
for ((round = 0; round < ROUNDS; round++)); do
	was=$(counter shca1 rx_packets)
	moved() { (($(counter shca1 rx_packets) > was + MESSAGES * 2)); }
	wait_until "$BACK" moved || {
		state
		fail 'RC does not come back'
	}
	for ((i = 0; i < STEPS; i++)); do
		draw
		op "${OP[@]}" &
		draw
		op "${OP[@]}"
		wait $!
		[[ ! -e /tmp/hung ]] || fail 'an operation hangs'
	done
	whole
	manager
	active "${DEVS[@]}"
	echo "round $round, $SECONDS s"
done
ok "$((ROUNDS * STEPS * 2)) removals under traffic"

# At last everything goes, in a random order, and nothing is put back.
for it in $(printf '%s\n' "${DEVS[@]}" sw0 sw1 | shuf --random-source=<(yes "$SEED")); do
	if [[ $it == sw* ]]; then
		op ibctl switch del "$it"
	else
		op ibctl dev del "$it"
	fi
	[[ ! -e /tmp/hung ]] || fail 'an operation hangs'
done
[[ -z $(ibctl cable list) ]] || fail "cables are left: $(ibctl cable list)"
no_devices || fail 'devices are left'
ok 'everything is gone'

# Both ends of cables go at the same time. Who was told that a device is gone
# hears nothing of it afterwards, and neither does ib_core.
run modprobe -r ib_ipoib
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
TIMES=$(by_kernel 6 4 1)
for ((i = 0; i < TIMES; i++)); do
	at_once
done
ended() { [[ $(jq -r .event /tmp/events | grep -cx del) == $((ENDS * TIMES)) ]]; }
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
