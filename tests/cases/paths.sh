#!/bin/bash
# Every kind of path a packet can take, and every way a namespace can go.
. "$(dirname "$0")/../lib-verbs.sh"

sizes=${SIZES:-0-5,1023-1025,4099,65536}

link_local() { # NETNS INTERFACE
	ip -n "$1" -6 -o addr show dev "$2" scope link | sed 's/.*inet6 \([^/]*\).*/\1/'
}

# between GID-A GID-B [IP of B]: RC and UD
between() {
	pair_of B "vt_xfer -d $DEV_B -g $2 -s" \
		A vt_xfer -d "$DEV_A" -g "$1" -c "${3:-$IP_B}" -n "$sizes" -b 16
	run vt_ud -d "$DEV_A" -g "$1" -D "$DEV_B" -G "$2"
}

# One process, where gid_index() of lib.sh starts one for each of 256 entries
wait_gid() { # DEVICE IP
	local want end=$((SECONDS + 20))
	want=$(gid_of "$2")
	until grep -qsx "$want" "$HW/$1"/ports/1/gids/*; do
		((SECONDS < end)) || fail "$1: no GID of $2"
		sleep 0.2
	done
}

# A QP that is gone may still be sent to; else every packet has a taker
nothing_dropped() {
	local dev name
	for dev in "$DEV_A" "$DEV_B"; do
		for name in malformed icrc address pkey opcode; do
			(($(counter "$dev" rx_drop_$name) == 0)) ||
				fail "$dev: rx_drop_$name is $(counter "$dev" rx_drop_$name)"
		done
	done
}

topo 9000
between $IP_A $IP_B
between $IP6_A $IP6_B
ok 'IPv4, IPv6'

la=$(link_local A va) lb=$(link_local B vb)
between "$la" "$lb"
ok 'IPv6, link-local'

run ip -n A link add link va name va5 type vlan id 5
run ip -n B link add link vb name vb5 type vlan id 5
run ip -n A addr add 10.5.0.1/24 dev va5
run ip -n B addr add 10.5.0.2/24 dev vb5
run ip -n A link set va5 up
run ip -n B link set vb5 up
wait_gid $DEV_A 10.5.0.1
wait_gid $DEV_B 10.5.0.2
between 10.5.0.1 10.5.0.2 10.5.0.2
ok 'VLAN'
nothing_dropped

# Without scatter-gather the device copies; the ICRC must not notice.
run A ethtool -K va sg off >/dev/null
between $IP_A $IP_B
run A ethtool -K va sg on >/dev/null
nothing_dropped
ok 'a device without scatter-gather'

# Two devices of one namespace: by lo, whatever netdevs they are on
run ip netns add C
run ip -n C link set lo up
for i in 1 2; do
	run ip -n C link add d$i type dummy
	run ip -n C addr add 10.7.0.$i/24 dev d$i
	run ip -n C addr add fd07::$i/64 dev d$i nodad
	run ip -n C link set d$i up
	run ip netns exec C ibctl dev add c$i netdev d$i
	wait_gid c$i 10.7.0.$i
	wait_gid c$i fd07::$i
done
C() { ip netns exec C "$@"; }
pair_of C "vt_xfer -d c2 -g 10.7.0.2 -s" \
	C vt_xfer -d c1 -g 10.7.0.1 -c 10.7.0.2 -n "$sizes" -b 16
pair_of C "vt_xfer -d c2 -g fd07::2 -s" \
	C vt_xfer -d c1 -g fd07::1 -c 10.7.0.2 -n "$sizes" -b 16
run vt_ud -d c1 -g 10.7.0.1 -D c2 -G 10.7.0.2
(($(counter c1 tx_bytes) > 65536)) || fail 'c1 has sent nothing'
ok 'two devices of one namespace'

# An unreachable address: counted, and the device lives
C ip route add unreachable 10.8.0.0/24

# The namespace goes while its devices are in use
C vt_xfer -d c2 -g 10.7.0.2 -s >/dev/null 2>&1 &
ip netns pids C | xargs -r kill -9
wait
run ip netns del C
wait_until 20 bash -c '! [[ -e /sys/class/infiniband/c1 || -e /sys/class/infiniband/c2 ]]' ||
	fail 'devices outlive their namespace'
ok 'namespace removed'

# A netdev that goes back to the initial namespace when its own goes
if [[ -e /sys/class/net/eth0 ]]; then
	run ip netns add P
	run ip link set eth0 netns P
	run ip -n P link set eth0 up
	run ip -n P addr add 10.9.0.1/24 dev eth0
	run ip -n P addr add fd09::1/64 dev eth0 nodad
	run ip netns exec P ibctl dev add p0 netdev eth0
	wait_gid p0 fd09::1
	ip netns exec P vt_xfer -d p0 -g fd09::1 -s -t 5 >/dev/null 2>&1 &
	run ip netns exec P timeout 20 vt_ud -d p0 -g fd09::1
	kill %% 2>/dev/null
	wait
	run ip netns del P
	wait_until 20 test -e /sys/class/net/eth0 || fail 'eth0 did not come back'
	wait_until 20 bash -c '! [[ -e /sys/class/infiniband/p0 ]]' || fail 'p0 stays'
	dmesg | grep 'namespace went away first' && fail 'the namespace did not wait for p0'
	ok 'netdev moved back'
fi

# A taken port is a refusal that explains itself, and nothing stays open.
run ip netns add D
run ip -n D link add d1 type dummy
run ip -n D addr add 10.7.0.1/24 dev d1
run ip -n D link set d1 up
ip netns exec D socat -u UDP6-RECV:4791,ipv6only=1 - >/dev/null &
wait_until 5 bash -c '[[ -n $(ip netns exec D ss -Hlun "sport = :4791") ]]'
ip netns exec D ibctl dev add d0 netdev d1 2>/tmp/why && fail 'the port is taken'
cat /tmp/why
grep -q 'UDP port 4791' /tmp/why || fail 'the refusal does not say why'
[[ -z $(ip netns exec D ss -Hlun4 'sport = :4791') ]] || fail 'the IPv4 socket stays'
kill %% && wait
run ip netns exec D ibctl dev add d0 netdev d1
ok 'port taken'
