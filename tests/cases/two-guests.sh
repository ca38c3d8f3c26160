#!/bin/bash
# Two machines instead of two namespaces: the packets leave through a network
# driver, and each end has its own module and its own socket.
. "$(dirname "$0")/../lib-verbs.sh"

run ibctl dev add "$DEV_A" netdev eth0
run peer ibctl dev add "$DEV_B" netdev eth0
there() { peer "grep -q ACTIVE $HW/$1/ports/1/state"; }
wait_until 10 port_active "$DEV_A" || fail "$DEV_A is not active"
wait_until 10 there "$DEV_B" || fail "$DEV_B is not active"
wait_until 10 gid_index "$DEV_A" "$IP_A" >/dev/null || fail "$DEV_A: no GID of $IP_A"

peer rping -s -a "$IP_B" -V -C 20 >/tmp/server 2>&1 &
server=$!
wait_until 60 peer 'rdma resource show cm_id | grep -q LISTEN' || fail 'rping -s does not listen'
run timeout 60 rping -c -a "$IP_B" -V -C 20
wait $server || fail "rping -s: $(cat /tmp/server)"
ok 'rping from the first to the second'

for op in WRITE READ SEND; do
	pair_of peer "vt_xfer -d $DEV_B -g $IP_B -s" \
		command vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_B" -o $op \
		-n 0-8,1023-1025,4099,65536 -b 64 -S 3
done
ok 'data both ways, verified'
snap "$DEV_A"
pair_of peer "vt_xfer -d $DEV_B -g $IP_B -s" \
	command vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_B" -o WRITE -n 65536 -T $((8 * MIB)) -m 1024
copied=$(grown "$DEV_A" tx_bytes_copied)
retransmits=$(grown "$DEV_A" tx_retransmits)
((copied <= retransmits * 1024)) || fail "$copied bytes copied, $retransmits retransmits"
ok "8 MiB without a copy ($retransmits retransmits)"

# the device of the peer goes away in the middle
peer "vt_xfer -d $DEV_B -g $IP_B -s -w 5000" >/tmp/server 2>&1 &
server=$!
vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_B" -n 65536 -T $((1 << 30)) -w 5000 >/tmp/client 2>&1 &
client=$!
base=$(counter "$DEV_A" tx_packets)
wait_until 30 sent "$DEV_A" $((base + 200)) || fail "no traffic: $(cat /tmp/client)"
run peer ibctl dev del "$DEV_B"
wait $client && fail 'the client has not noticed'
wait $server && fail 'the server has not noticed'
run ibctl dev del "$DEV_A"
unload_now
run peer modprobe -r softhca
ok 'device of the peer deleted under traffic'
