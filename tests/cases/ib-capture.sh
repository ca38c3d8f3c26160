#!/bin/bash
# ibctl capture of a native InfiniBand port: every packet from the LRH on, subnet
# management too, with its queue pair and process; tshark finds nothing malformed.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"
. "$(dirname "$0")/../lib-capture.sh"

# show: to /tmp/c.txt, a line a packet: VL;SLID;DLID;OPCODE;QPN;CLASS;COMMENT;MALFORMED
show() {
	fields /tmp/c.pcapng infiniband.lrh.vl infiniband.lrh.slid infiniband.lrh.dlid infiniband.bth.opcode infiniband.bth.destqp \
		infiniband.mad.mgmtclass frame.comment _ws.malformed >/tmp/c.txt
	(($(wc -l </tmp/c.txt) == WRITTEN)) || fail "tshark reads $(wc -l </tmp/c.txt) of $WRITTEN packets"
	grep -vE '^0x0[0-7f];[0-9]+;[0-9]+;[0-9]+;0x[0-9a-f]+;[^;]*;shca0: [^;]*;$' /tmp/c.txt | head -n 5 >/tmp/bad
	[[ ! -s /tmp/bad ]] || fail "not InfiniBand from its LRH on: $(cat /tmp/bad)"
}

# has N PATTERN: at least so many packets are so
has() {
	local n
	n=$(grep -cE "$2" /tmp/c.txt)
	((n >= $1)) || fail "$n packets are '$2', not $1: $(head -n 20 /tmp/c.txt)"
}

# pingpong CLIENT-DEVICE OPTION...: with a server on shca0, 50 messages of 2000 bytes
pingpong() {
	local dev=$1 pid
	shift
	ibv_rc_pingpong -d "$DEV_A" -n 50 -s 2000 "$@" >/tmp/server 2>&1 &
	pid=$!
	wait_until 20 listening 18515 || fail "ibv_rc_pingpong: $(cat /tmp/server)"
	timeout 60 ibv_rc_pingpong -d "$dev" -n 50 -s 2000 "$@" 127.0.0.1 >/tmp/client 2>&1 || fail "ibv_rc_pingpong: $(cat /tmp/client)"
	wait "$pid" || fail "ibv_rc_pingpong: $(cat /tmp/server)"
}

run ibctl dev add "$DEV_A" link ib
run ibctl dev add "$DEV_B" link ib
run ibctl cable add "$DEV_A/1" "$DEV_B/1"
refused setpriv --bounding-set=-net_admin --inh-caps=-all ibctl capture "$DEV_A" -w /tmp/c.pcapng --duration 1s 2>/tmp/refusal
grep -q 'CAP_NET_ADMIN' /tmp/refusal || fail "refused with: $(cat /tmp/refusal)"

start
osm_start "$DEV_A" --sweep 2
active "$DEV_A" "$DEV_B"
run on "$DEV_B" saquery >/tmp/o
osm_stop "$DEV_A"
stop
show
a=$(lid_of "$DEV_A") b=$(lid_of "$DEV_B")
# directed routes from QP 0 to QP 0, and what the other end asks the subnet manager
has 4 '^0x0f;65535;65535;100;0x000000;0x81;shca0: sent by QPN 0 of ib_core;$'
has 4 '^0x0f;65535;65535;100;0x000000;0x81;shca0: received by QPN 0 of ib_core;$'
has 1 "^0x00;$b;$a;100;0x000001;0x03;shca0: received by QPN 1 of ib_core;$"
has 1 "^0x00;$a;$b;100;0x000001;0x03;shca0: sent by QPN 1 of ib_core;$"
ok "a subnet manager at work: $WRITTEN packets"

# The subnet manager leaves SLtoVL as it was: VL is SL modulo 8.
for how in '' '-l 3' '-g 0 -l 12'; do
	case $how in
	*'-l 3') vl=3 ;;
	*'-l 12') vl=4 ;;
	*) vl=0 ;;
	esac
	start
	# shellcheck disable=SC2086 # words
	pingpong "$DEV_B" $how
	stop
	show
	as_counted
	# 2000 bytes are a packet of 1024 and one of 976; and their ACKs
	has 100 "^0x0$vl;$a;$b;[0-9]+;0x[0-9a-f]+;;shca0: sent by QPN [0-9]+ of ibv_rc_pingpong \([0-9]+\);$"
	has "$WRITTEN" "^0x0$vl;"
	has 100 "^0x0$vl;$b;$a;[0-9]+;0x[0-9a-f]+;;shca0: received by QPN [0-9]+ of ibv_rc_pingpong \([0-9]+\);$"
	ok "RC ${how:-by LID} on VL $vl: $WRITTEN packets"
done

start
pingpong "$DEV_A"
stop
show
(($(grown "$DEV_A" tx_packets) == WRITTEN)) || fail "$WRITTEN written, $(grown "$DEV_A" tx_packets) sent to itself"
has 200 "^0x00;$a;$a;"
ok "what the port sends to itself, once: $WRITTEN packets"

start --snap 60
pingpong "$DEV_B"
stop
show
as_counted
fields /tmp/c.pcapng frame.cap_len frame.len | awk -F ';' '$1 > 60 { bad = 1 } $2 > 1000 { big++ } END { exit bad || !big }' ||
	fail 'packets are not cut, or not told how long they were'
ok 'cut to 60 bytes'
