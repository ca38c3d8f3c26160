#!/bin/bash
# The session of the README by copy and paste: its lines go to one shell, and what
# they show is what the README says.
. "$(dirname "$0")/../lib.sh"

readonly README=/softhca/README.md

sed -n '/^## What a session looks like/,/^## /p' $README | sed -n '/^```/,/^```/p' | grep -v '^```' >/tmp/session
(($(wc -l </tmp/session) > 8)) || fail "no session in README.md: $(cat /tmp/session)"
bash -eux /tmp/session >/tmp/shown 2>&1 || {
	cat /tmp/shown
	fail 'a line of it failed'
}

no_rping() { ! pgrep -x rping >/dev/null; }
wait_until 20 no_rping || fail 'the server in the background does not end'

# shows PATTERN...
shows() {
	local p
	for p; do
		grep -Eq -- "$p" /tmp/shown || {
			cat /tmp/shown
			fail "nothing like $p"
		}
	done
}

shows '^shca0[[:space:]]+roce[[:space:]]+va[[:space:]]+active' '^shca1[[:space:]]+roce[[:space:]]+vb[[:space:]]+active' \
	'^ping data: rdma-ping-0: ABCD' '^ping data: rdma-ping-9: ' '^shca0[[:space:]]+tx_packets[[:space:]]+[1-9]'
ok "$(grep -c . /tmp/session) lines of README.md"
