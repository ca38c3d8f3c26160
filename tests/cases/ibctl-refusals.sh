#!/bin/bash
# What is refused, is refused in one clear sentence with the right exit code
# (1 refused, 2 usage), by ibctl and by `rdma link add`.
. "$(dirname "$0")/../lib-verbs.sh"

# no CODE WORDS COMMAND...: ends with CODE, says one line which has WORDS
# (an extended regular expression, any case)
no() {
	local code=$1 words=$2 rc=0 text
	shift 2
	text=$("$@" 2>&1 >/tmp/stdout) || rc=$?
	printf '%s\n  -> %s: %s\n' "${*/#*netns exec A/A}" "$rc" "$text"
	((rc == code)) || fail "ended with $rc, not $code"
	[[ $(wc -l <<<"$text") == 1 ]] || fail 'more than one line'
	[[ ! -s /tmp/stdout ]] || fail "something on stdout: $(cat /tmp/stdout)"
	grep -qiE "$words" <<<"$text" || fail "not a word of: $words"
	((${#text} > 15 && ${#text} < 300)) || fail "${#text} characters"
	! grep -qE 'panic|goroutine|0x[0-9a-f]{8}|errno' <<<"$text" || fail 'not for people'
}

# rno WORDS COMMAND...: rdma has its own code and words; the module's sentence
# cannot be handed to it (the kernel's newlink has no extack) and is logged
rno() {
	local words=$1 rc=0 text
	shift
	echo '<6>lab: refusal' >/dev/kmsg
	text=$("$@" 2>&1) || rc=$?
	text+=$(dmesg | awk '/lab: refusal/ { said = "" } /softhca/ { said = said "; " $0 } END { print said }')
	printf '%s\n  -> %s: %s\n' "$*" "$rc" "$text"
	((rc != 0)) || fail 'was not refused'
	grep -qiE "$words" <<<"$text" || fail "not a word of: $words"
}

topo_netns
dev_up
run ip link add d0 type dummy # down, without an address
run ip link add d1 type dummy
run ip addr add 10.1.0.1/24 dev d1
run ip link set d1 up
run ip link add d2 type dummy
run ip link set d2 up
run sysctl -qw net.ipv6.conf.d2.disable_ipv6=1

# usage: 2
no 2 'missing|name' ibctl dev add
no 2 'netdev' ibctl dev add x0
no 2 'value' ibctl dev add x0 netdev
no 2 'unknown|keyword' ibctl dev add x0 netdve d1
no 2 'unknown' ibctl dev frobnicate
no 2 'unknown' ibctl divice list
no 2 'too many|argument' ibctl dev del "$DEV_A" "$DEV_B"
no 2 'link|roce' ibctl dev add x0 netdev d1 link token-ring
no 2 'window|number|range' ibctl dev set "$DEV_A" window many
ok 'usage'

# refused: 1
no 1 'no.*(interface|netdev|device)|not exist|does not' ibctl dev add x0 netdev nosuch0
no 1 'down' ibctl dev add x0 netdev d0
no 1 'address|IP' ibctl dev add x0 netdev d2
no 1 'already|exist|taken' A ibctl dev add "$DEV_A" netdev va
no 1 'already|exist|taken' A ibctl dev add other netdev va
no 1 'already|exist|taken' ibctl dev add "$DEV_A" netdev d1
no 1 'name|long' ibctl dev add "$(printf 'x%.0s' {1..80})" netdev d1
no 1 'no.*device|not exist|no such' ibctl dev del nosuch0
no 1 'no.*device|not exist|no such' ibctl dev show nosuch0
no 1 'no.*device|not exist|no such' ibctl dev set nosuch0 window 64
no 1 'no.*(device|queue pair)|not exist|no such' ibctl qp show "$DEV_A" 1234567
no 1 'window|range|between' ibctl dev set "$DEV_A" window 100000
ok 'refused'

# a name that the RDMA subsystem would take, and one that it would expand
no 1 'name' ibctl dev add 'a/b' netdev d1
no 1 'name' ibctl dev add 'a%d' netdev d1

# the port: rxe holds it in the initial namespace
if modprobe -q rdma_rxe; then
	run rdma link add rxe0 type rxe netdev d1
	no 1 '4791' ibctl dev add x0 netdev d1
	rno '4791|in use' rdma link add x0 type softhca netdev d1
	run rdma link del rxe0
	run modprobe -r rdma_rxe
else
	echo 'no rdma_rxe in this kernel: the port is taken by a program only'
fi
socat -u UDP4-RECV:4791 OPEN:/dev/null &
holder=$!
port_taken() { ! port_free; }
wait_until 5 port_taken || fail 'socat does not listen'
no 1 '4791' ibctl dev add x0 netdev d1
kill $holder
wait $holder
run ibctl dev add x0 netdev d1
run ibctl dev del x0
ok 'port taken'

rno 'down' rdma link add x0 type softhca netdev d0
rno 'already|exist' rdma link add "$DEV_A" type softhca netdev d1
ok 'rdma link add'

# no permission: not root, and root of another user namespace
no 1 'permi|CAP_NET_ADMIN|root|allowed' setpriv --reuid 65534 --clear-groups ibctl dev add x0 netdev d1
no 1 'permi|CAP_NET_ADMIN|root|allowed' setpriv --reuid 65534 --clear-groups ibctl dev del "$DEV_A"
no 1 'permi|CAP_NET_ADMIN|root|allowed' unshare -Ur ibctl dev del "$DEV_A"
setpriv --reuid 65534 --clear-groups ibctl dev list | grep -q "$DEV_A" || fail 'reading needs no privilege'
ok 'no permission'

# the device is still what it was
xfer -n 0-8,4096
unload_now

# the module is missing: modprobe cannot load it
run mount -t tmpfs none "/lib/modules/$(uname -r)"
no 1 'module|load' ibctl dev list
no 1 'module|load' ibctl dev add x0 netdev d1
run umount "/lib/modules/$(uname -r)"
run ibctl dev list
ok 'module missing'
