#!/bin/bash
# Every mistake of docs/TROUBLESHOOTING.md is named in the words that stand there
# (T86).
. "$(dirname "$0")/../lib-verbs.sh"

readonly DOC=/softhca/docs/TROUBLESHOOTING.md

# vt NAME: makes one between the two devices
vt() { vt_mistake -d "$DEV_A" -g "$IP_A" -D "$DEV_B" -G "$IP_B" "${@:2}" "$1"; }

# as vt_mistake does not make them; what they print is the refusal
make_no-interface() { ! A ibctl dev add shca7 netdev nosuch; }
make_name-taken() { ! ibctl dev add "$DEV_A" netdev d1; }
make_no-device() { ! ibctl qp list nosuch; }
make_memlock() { setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock vt_mistake -d "$DEV_A" -g "$IP_A" -D "$DEV_B" -G "$IP_B" memlock; }
make_garbage() { printf 'this is no packet of InfiniBand' | A socat - "UDP:$IP_B:4791"; }

make_firewall-in() { firewall B input; }
make_firewall-out() { firewall A output; }

firewall() { # NETNS HOOK
	local rc
	"$1" nft "add table inet t; add chain inet t c { type filter hook $2 priority 0; }; add rule inet t c udp dport 4791 drop" ||
		return 1
	vt send
	rc=$?
	"$1" nft delete table inet t
	return $rc
}

make_firewall-egress() {
	local rc
	A tc qdisc add dev va clsact && A tc filter add dev va egress matchall action drop ||
		return 1
	vt send
	rc=$?
	A tc qdisc del dev va clsact
	return $rc
}

make_peer-down() {
	vt send -x 'ip -n B link set vb down'
	local rc=$?
	up B vb 2
	return $rc
}

make_own-down() {
	vt send -x 'ip -n A link set va down'
	local rc=$?
	up A va 1
	return $rc
}

up() { # NETNS INTERFACE N: IPv6 addresses go when it is down
	run ip -n "$1" link set "$2" up
	run ip -n "$1" addr replace "fd00::$3/64" dev "$2" nodad
	wait_until 10 port_active "$DEV_A" && wait_until 10 port_active "$DEV_B" || fail 'a port stays down'
	wait_until 10 gid_index "$DEV_A" "$IP_A" >/dev/null || fail 'the GID does not return'
	wait_until 10 gid_index "$DEV_B" "$IP_B" >/dev/null || fail 'the GID does not return'
}

# said WORDS: the trace has them behind what it had before
said() { tail -n "+$((SEEN + 1))" /tmp/errors | grep -qF -- "$1"; }

# like WORDS: the same of DEV_A, with whatever numbers
like() {
	tail -n "+$((SEEN + 1))" /tmp/errors |
		grep -qE "$DEV_A.*$(sed 's/[][().*]/\\&/g; s/[0-9][0-9]*/[0-9]+/g' <<<"$1")"
}

topo 1500
modprobe -qa dummy
run ip link add d1 up type dummy
ibctl trace errors >/tmp/errors 2>/tmp/errors.err &
TRACE=$!
wait_until 60 grep -q '^tracing' /tmp/errors.err || fail "$(cat /tmp/errors.err)"

n=0
while IFS='|' read -r _ what name where words _; do
	name=$(tr -d '` ' <<<"$name") where=${where// /}
	words=${words# } words=${words% }
	SEEN=$(wc -l </tmp/errors)
	if declare -F "make_$name" >/dev/null; then
		"make_$name" >/tmp/out 2>&1 || fail "$name: $(cat /tmp/out)"
	else
		vt "$name" >/tmp/out 2>&1 || fail "$name: $(cat /tmp/out)"
	fi
	case $where in
	refusal) grep -qF -- "$words" /tmp/out || fail "$name is not named: $(cat /tmp/out)" ;;
	errors)
		wait_until 5 said "$words" || {
			cat /tmp/out
			tail -n "+$((SEEN + 1))" /tmp/errors
			fail "$name: nobody says '$words'"
		}
		;;
	*) fail "$name: named where? $where" ;;
	esac
	n=$((n + 1))
	ok "$name:$what"
done < <(grep -E '^\| .* \| `[a-z-]+` \|' $DOC)
((n >= 20 && n == $(grep -c '^| ' $DOC) - 1)) || fail "$n mistakes, not all of the table"
ok "$n mistakes, each named"

# the session, as it stands there; its first command runs already
sed -n '/^## From a number/,/^## Mistakes/p' $DOC >/tmp/page
SEEN=$(wc -l </tmp/errors)
while IFS= read -r line; do
	if [[ $line == *'&' ]]; then
		eval "$line" 2>/tmp/out.server
	else
		eval "$line" </dev/null >>/tmp/out.session 2>&1 || echo "ended with $?: $line" >>/tmp/out.session
	fi
done < <(sed -n 's/^# //p' /tmp/page | grep -v '^ibctl')
words=$(grep '^Failed status' /tmp/page) || fail "no session in $DOC"
grep -qF "$words" /tmp/out.session || fail "the session says: $(cat /tmp/out.session /tmp/out.server)"
n=0
while IFS= read -r words; do
	wait_until 5 like "$words" || fail "nobody says '$words': $(tail -n "+$((SEEN + 1))" /tmp/errors)"
	n=$((n + 1))
done < <(grep '^The peer did not acknowledge' /tmp/page)
((n == 3)) || fail "$n lines of a trace in $DOC"
tail -n "+$((SEEN + 1))" /tmp/errors | grep "$DEV_B" && fail "$DEV_B has something to say"
ok 'the session'

kill -INT "$TRACE"
wait "$TRACE" || fail "the trace ended with $?"
grep -v '^tracing' /tmp/errors.err && fail 'the trace had more to say'
ok 'nothing else'
