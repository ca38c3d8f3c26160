#!/bin/bash
# What goes over cables to another host, here another namespace: datagrams of IB
# MTU 2048 and 4096 between all adapters, seen byte by byte, through a switch on
# each host, over IPv4, IPv6 and another UDP port, whatever the Ethernet's MTU.
#
#	namespace A                                        namespace B
#	shca0 --- sw0/1   sw0/2 --- UDP, IPv4 ------------- shca1
#	                  sw0/3 --- UDP, IPv6 ------------- shca2
#	                  sw0/4 --- UDP, IPv4, port 48123 - sw8/2   sw8/1 --- shca3
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

DEVS=(shca0 shca1 shca2 shca3)
topo_netns 1500
run ibctl switch add sw0 ports 4
run ibctl switch add sw8 ports 4
for dev in "${DEVS[@]}"; do
	run ibctl dev add "$dev" link ib
done
run ibctl cable add shca0/1 sw0/1
run ibctl cable add shca3/1 sw8/1
run A ibctl cable add sw0/2 remote "$IP_B" id 7
run B ibctl cable add shca1/1 remote "$IP_A" id 7
run A ibctl cable add sw0/3 remote "$IP6_B" id 7
run B ibctl cable add shca2/1 remote "$IP6_A" id 7

udp_open() { [[ -n $($1 ss -Hlun 'sport = :48123') ]]; } # NETNS
udp_open A && fail 'another UDP port is open before there is a cable'
run A ibctl cable add sw0/4 remote "$IP_B" id 7 port 48123
run B ibctl cable add sw8/2 remote "$IP_A" id 7 port 48123
udp_open A && udp_open B || fail 'the other UDP port is not open'
osm_start shca0 --sweep 1
active "${DEVS[@]}"
run ibctl cable list
[[ $(on shca3 ibnetdiscover | grep -c ^Switch) == 2 ]] || fail 'ibnetdiscover does not see two switches'
run on shca1 ibtracert "$(lid_of shca1)" "$(lid_of shca3)"
ok 'two switches on two hosts, joined over another UDP port'

# fragments: how many IP has made, of IPv4 and IPv6, in A and in B
fragments() {
	for ns in A B; do
		$ns nstat -asz IpFragCreates Ip6FragCreates | awk '$1 ~ /FragCreates/ { print $2 }'
	done
}

# mtu BYTES: of both ends of the Ethernet
mtu() {
	run ip -n A link set va mtu "$1"
	run ip -n B link set vb mtu "$1"
}

# datagrams BYTES all|none: between all pairs, and on which kinds of cable and in
# which directions they are cut
datagrams() {
	local was now i grown=0
	mapfile -t was < <(fragments)
	run vt_all -l "$1" "${DEVS[@]}"
	mapfile -t now < <(fragments)
	((${#now[@]} == 4)) || fail "not four counters of fragments: ${now[*]}"
	for i in 0 1 2 3; do
		((now[i] == was[i])) || grown=$((grown + 1))
	done
	[[ $grown:$2 == 4:all || $grown:$2 == 0:none ]] ||
		fail "$2 were to be cut; fragments were ${was[*]}, are ${now[*]}"
	ok "datagrams of $1 bytes, of which IP cuts $2"
}
datagrams 4096 all
datagrams 2048 all
mtu 2200
datagrams 4096 all
datagrams 2048 none
mtu 9000
datagrams 4096 none
mtu 1500

# rc MTU: messages of many packets over both switches, whose contents both ends check
rc() {
	local pid cmd=(timeout 60 ibv_rc_pingpong -c -m "$1" -s 65536 -n 10)
	"${cmd[@]}" -d shca1 >/tmp/server 2>&1 &
	pid=$!
	wait_until 20 listening 18515 || fail "no server: $(cat /tmp/server)"
	run "${cmd[@]}" -d shca3 127.0.0.1
	wait $pid || fail "the server: $(cat /tmp/server)"
	ok "RC with an IB MTU of $1"
}
rc 2048
rc 4096

run ibctl switch del sw8
down() { [[ $(ibctl -j switch show sw0 | jq -r '.ports[3].state') == down ]]; }
wait_until 5 down || fail 'the switch at the other end is gone and the port is up'
port_is shca3 DOWN || fail 'the switch is gone and its adapter is up'
udp_open B && fail 'the other UDP port is open after its cable'
run ibctl cable del sw0/4
udp_open A && fail 'the other UDP port is open after its cable'
ports_are ACTIVE shca0 shca1 shca2 || fail 'others went down with the switch'
ok 'a switch at the other end that goes'
osm_stop shca0 KILL
