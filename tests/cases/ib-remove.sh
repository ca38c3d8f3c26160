#!/bin/bash
# Cables are pulled and devices and switches deleted in a random order (SEED, the
# first argument of RANDOM), two at a time, under RC, UD, IPoIB and subnet
# management traffic: none of it takes long, and all of that traffic comes back.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

SEED=${SEED:-20261129}
ROUNDS=$(by_kernel 6 3 1) STEPS=$(by_kernel 6 4 2)
# where a program takes a minute to begin: its limit, its messages, the wait for it
LIMIT=$(by_kernel 40 20 200) MESSAGES=$(by_kernel 200 50 10) BACK=$(by_kernel 100 100 500)
RANDOM=$SEED
echo "seed $SEED"

#	shca0 - sw0/1    sw1/1 - shca2
#	shca1 - sw0/2    sw1/2 - shca3      two trunks: 3, 4
DEVS=(shca0 shca1 shca2 shca3)
CABLES=('shca0/1 sw0/1' 'shca1/1 sw0/2' 'shca2/1 sw1/1' 'shca3/1 sw1/2' 'sw0/3 sw1/3' 'sw0/4 sw1/4')
PLUGS=(shca{0,1,2,3}/1 sw{0,1}/{1,2,3,4})
TRAFFIC=(rc_traffic ud_traffic mad_traffic ip_traffic)

# op COMMAND...: an operation may be refused, but may not take long. When a device
# goes, ib_core waits for the answers of a subnet manager that is not there: 4 times
# 3 s. Cables and switches wait for nobody.
op() {
	local rc=0 start=$SECONDS limit=30
	[[ "$1 $2" != ibctl\ @(cable|switch) ]] || limit=$(by_kernel 10 10 30)
	timeout "$limit" "$@" >/dev/null 2>&1 || rc=$?
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

# for_ever TRAFFIC: each time that it succeeds there is a line in /tmp/TRAFFIC.ok, the
# second when it began. One CPU has to do the removing as well.
for_ever() {
	local begin
	renice -n 5 "$BASHPID" >/dev/null
	while :; do
		begin=$SECONDS
		if "$1" >"/tmp/$1.log" 2>&1; then
			echo "$begin" >>"/tmp/$1.ok"
		else
			echo "ended with $? at $SECONDS s" >>"/tmp/$1.log"
			cp "/tmp/$1.log" "/tmp/$1.last"
			sleep 0.1
		fi
	done
}

# works TRAFFIC: it succeeded, and began after $since
works() { awk -v since="$since" '$1 > since { n++ } END { exit !n }' "/tmp/$1.ok"; }

come_back() { # all traffic, whatever of it was under way
	local it since=$SECONDS
	for it in "${TRAFFIC[@]}"; do
		wait_until "$BACK" works "$it" && continue
		state
		fail "$it does not come back"
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
mad_traffic() { # the whole of it
	timeout "$LIMIT" ibnetdiscover -C shca3 -P 1 >/tmp/nodes &&
		(($(grep -cE '^(Ca|Switch)' /tmp/nodes) == 6))
}

# The others answer, and ib_ipoib has an interface of each. -L: not this one itself.
ip_traffic() {
	local i pid pids=() rc=0
	for i in /sys/class/net/ib*; do
		ip link set "${i##*/}" up
		ping -q -L -c 5 -i 0.2 -w $((LIMIT / 4)) -s 1000 "ff02::1%${i##*/}" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || rc=$?
	done
	((${#pids[@]} == ${#DEVS[@]} && rc == 0))
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
	for f in /tmp/*_traffic.*; do
		echo "-- $f"
		tail -n 30 "$f"
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
loops=()
for it in "${TRAFFIC[@]}"; do
	: >"/tmp/$it.ok"
	for_ever "$it" &
	loops+=($!)
done
come_back
for ((round = 0; round < ROUNDS; round++)); do
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
	come_back
	echo "round $round, $SECONDS s; $(wc -l /tmp/*_traffic.ok | tr -s '\n ' ' ')"
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
kill "${loops[@]}"
run modprobe -r ib_ipoib
