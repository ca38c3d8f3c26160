#!/bin/bash
# The sessions of docs/TRACING.md with perf and bpftrace, line by line as they
# stand there, and what they show.
. "$(dirname "$0")/../lib-verbs.sh"

readonly DOC=/softhca/docs/TRACING.md

# session TITLE: runs the commands of that section; their output to /tmp/session.
# What runs in the background is waited for in the end.
session() {
	local line server=''
	: >/tmp/session
	sed -n "/^### $1/,/^###* /p" $DOC | sed -n 's/^# //p' >/tmp/commands
	[[ -s /tmp/commands ]] || fail "no session '$1'"
	while IFS= read -r line; do
		echo "# $line"
		if [[ $line == *'&' ]]; then
			eval "$line" >/tmp/server 2>&1
			server=$!
			wait_until 20 cm_listening || fail "$line: does not listen"
		else
			eval "$line" </dev/null >>/tmp/session 2>&1 || {
				tail -n 20 /tmp/session
				fail "$line: ended with $?"
			}
		fi
	done </tmp/commands
	[[ -z $server ]] || wait "$server" || fail 'rping -s failed'
}

# shows PATTERN...: the session has lines like these
shows() {
	local p
	for p; do
		grep -Eq -- "$p" /tmp/session || {
			head -n 40 /tmp/session
			fail "nothing like $p"
		}
	done
}

topo 1500

# nobody's view is narrowed by what ibctl attaches
ibctl trace errors >/tmp/errors 2>/tmp/errors.err &
TRACE=$!
wait_until 60 grep -q '^tracing' /tmp/errors.err || fail "$(cat /tmp/errors.err)"

session 'perf: what happened'
shows 'rping +[0-9.]+: +softhca:doorbell: dev=shca0 qpn=[0-9]+ how=system call' \
	'softhca:send_fetch: dev=shca0 .* opcode=SEND flags=0x[0-9a-f]+ length=16 packets=1' \
	'softhca:burst: dev=shca1 .* path=wire error=0' \
	'softhca:packet: dev=shca0 .* opcode=ACK ' \
	'softhca:send_done: dev=shca0 .* opcode=SEND status=SUCCESS length=16 cqe=1' \
	'softhca:cqe: dev=shca1 .* opcode=RECV status=SUCCESS length=16 reason=none index=[0-9]+' \
	'softhca:qp_state: dev=shca1 .* from=INIT to=RTR reason=none' \
	'softhca:mr_register: dev=shca0 key=0x[0-9a-f]+ '
grep -iE 'lost|warning' /tmp/session && fail 'perf lost events'
kill -INT "$TRACE"
wait "$TRACE" || fail "ibctl trace ended with $?: $(cat /tmp/errors.err)"
ok 'perf record and perf script, and ibctl trace at the same time'

session 'perf trace: a live view'
shows 'softhca:send_done\(dev: "?shca0"?, qpn: [0-9]+, ' \
	'softhca:cqe\(dev: "?shca1"?, '
ok 'perf trace'

session 'bpftrace: questions'
shows '^@status\[shca0, 0\]: [1-9]' '^@status\[shca1, 0\]: [1-9]' '^@bytes\[shca0\]:' \
	'^\[16, 32\) +[1-9]'
ok 'bpftrace'
