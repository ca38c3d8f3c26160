#!/bin/bash
# Programs over native InfiniBand, by LID and by GID: the examples of libibverbs
# and perftest, between two ports on a cable and within one port.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

back_to_back
N=$(by_kernel 50 50 10) LIMIT=$(by_kernel 60 60 180)

# pair PORT SERVER... -- CLIENT...: a server on a TCP port and its client
pair() {
	local port=$1 server=() pid rc=0
	shift
	while [[ $1 != -- ]]; do
		server+=("$1")
		shift
	done
	shift
	timeout "$LIMIT" "${server[@]}" >/tmp/server 2>&1 &
	pid=$!
	wait_until "$LIMIT" listening "$port" || rc=1
	((rc)) || timeout "$LIMIT" "$@" 127.0.0.1 >/tmp/client 2>&1 || rc=$?
	wait "$pid" || rc=$?
	# which the pingpongs only say; ib-xfer looks at every byte
	grep -q 'invalid data' /tmp/server /tmp/client && rc=1
	if ((rc)); then
		cat /tmp/server /tmp/client
		ibctl qp list
		fail "$* ended with $rc"
	fi
}

for cmd in ibv_rc_pingpong ibv_ud_pingpong; do
	pair 18515 $cmd -c -d shca0 -n "$N" -- $cmd -c -d shca1 -n "$N"
	pair 18515 $cmd -c -d shca0 -n "$N" -g 0 -- $cmd -c -d shca1 -n "$N" -g 0
	pair 18515 $cmd -c -d shca0 -n "$N" -- $cmd -c -d shca0 -n "$N"
	ok "$cmd: by LID, by GID, within a port"
done
cmd='ibv_rc_pingpong -c -s 65536 -m 4096'
# shellcheck disable=SC2086 # words
pair 18515 $cmd -d shca0 -n "$N" -- $cmd -d shca1 -n "$N"
ok "$cmd"

for cmd in ib_send_bw ib_write_bw ib_read_bw; do
	pair 18515 $cmd -F -d shca0 -s 65536 -n "$N" -- $cmd -F -d shca1 -s 65536 -n "$N"
	pair 18515 $cmd -F -d shca0 -s 1000 -n "$N" -x 0 -- $cmd -F -d shca1 -s 1000 -n "$N" -x 0
	ok "$cmd: by LID and by GID"
done
pair 18515 ib_send_bw -F -c UD -d shca0 -s 2048 -n "$N" -- ib_send_bw -F -c UD -d shca1 -s 2048 -n "$N"
ok 'ib_send_bw -F -c UD'

# A cable that is pulled under traffic costs the QP, never the host.
timeout "$LIMIT" ib_write_bw -F -d shca0 -s 65536 -D 10 >/tmp/server 2>&1 &
wait_until "$LIMIT" listening 18515 || fail 'the server does not begin'
timeout "$LIMIT" ib_write_bw -F -d shca1 -s 65536 -D 10 127.0.0.1 >/tmp/client 2>&1 &
moved() { (($(counter shca0 rx_packets) > $1)); }
wait_until "$LIMIT" moved "$(($(counter shca0 rx_packets) + 100))" || fail 'nothing moves'
run ibctl cable del shca0/1
run ibctl dev del shca1
wait %2 %3 2>/dev/null
ok 'a device deleted under traffic'
osm_stop shca0 KILL
