# shellcheck shell=bash
# Sourced by the cases about `ibctl trace`: what lib-verbs.sh has, and a trace that
# runs in the background.
# shellcheck source=tests/lib-verbs.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib-verbs.sh"

# start KIND ARGUMENT...: a trace to /tmp/KIND, until it is attached
start() {
	KIND=$1
	ibctl -j trace "$@" >"/tmp/$KIND" 2>"/tmp/$KIND.err" &
	TRACE=$!
	wait_until 60 grep -q '^tracing' "/tmp/$KIND.err" || {
		cat "/tmp/$KIND.err"
		fail "trace $* does not start"
	}
}

# stop [WORDS]: as Ctrl-C does; nothing may have been lost or be left, and it may
# have had nothing to say but that there were no messages, and lines with WORDS
stop() {
	kill -INT "$TRACE"
	wait "$TRACE" || fail "trace $KIND ended with $?: $(cat "/tmp/$KIND.err")"
	grep -vE "^tracing|^no messages\$${1:+|$1}" "/tmp/$KIND.err" && fail "trace $KIND had more to say"
	bpftool prog list | grep -E 'name (on|flow|stream|copies|verbs|nak)_' && fail 'a program is left'
}

# q FILTER: jq over all objects of the last trace; must be true
q() {
	jq -es "$1" "/tmp/$KIND" >/dev/null || {
		head -c 3000 "/tmp/$KIND"
		fail "trace $KIND: not so: $1"
	}
}

# perf_pair TOOL OPTION...: a tool of perftest from A to B, to /tmp/perftest
perf_pair() {
	local tool=$1 pid
	shift
	B "$tool" -d "$DEV_B" -x "$(gid_index "$DEV_B" "$IP_B")" -F "$@" >/tmp/perf.server 2>&1 &
	pid=$!
	wait_until 20 listening 18515 B || fail "$tool does not listen"
	A "$tool" -d "$DEV_A" -x "$(gid_index "$DEV_A" "$IP_A")" -F "$@" "$IP_B" >/tmp/perftest 2>&1 ||
		fail "$tool ended with $?: $(cat /tmp/perftest)"
	wait "$pid"
}
