#!/bin/bash
# Every kind of interface (T48): a device on it works, or is refused with a
# sentence. Then the interface goes away under the device.
. "$(dirname "$0")/../lib-verbs.sh"

worked='' refused=''

# try NAME: rping over a device on that interface, from itself to itself
try() {
	local dev=$1 ip text rc=0
	ip=$(ip -4 -o addr show dev "$dev" | awk '{sub("/.*", "", $4); print $4; exit}')
	text=$(ibctl dev add odd0 netdev "$dev" 2>&1) || rc=$?
	if ((rc)); then
		((rc == 1 && ${#text} > 15)) || fail "$dev: ended with $rc: $text"
		printf '%s: refused: %s\n' "$dev" "$text"
		refused+=" $dev"
		return
	fi
	if wait_until 3 port_active odd0; then
		wait_until 3 gid_index odd0 "$ip" >/dev/null || fail "$dev: no GID of $ip"
		run timeout 60 vt_self -d odd0 -g "$ip" -n 1 -l 10000 >/dev/null
		rping_pair command command "$ip" -C 3 >/dev/null
		worked+=" $dev"
	else
		printf '%s: added, the port is not active: %s\n' "$dev" "$(cat $HW/odd0/ports/1/state)"
		[[ $(cat "/sys/class/net/$dev/carrier") == 0 ]] ||
			fail "$dev has carrier and the port stays down"
	fi
}

# odd NAME ADDRESS TYPE...: makes it, tries it, deletes it
odd() {
	local name=$1 ip=$2
	shift 2
	if ! ip link add "$name" "$@" 2>/tmp/err; then
		printf '%s: this kernel has no such interface: %s\n' "$name" "$(cat /tmp/err)"
		return
	fi
	ip addr add "$ip" dev "$name"
	ip link set "$name" up
	[[ $* != *'peer name'* ]] || ip link set "${*: -1}" up
	try "$name"
	run ip link del "$name"
	wait_until 10 gone odd0 || fail "$name: the device stays without its interface"
}

run modprobe softhca
ip addr add 10.4.0.1/32 dev lo
try lo
[[ -e $HW/odd0 ]] && run ibctl dev del odd0
ip addr del 10.4.0.1/32 dev lo
odd dummy7 10.4.1.1/24 type dummy
odd fifteen-chars-x 10.4.2.1/24 type dummy
odd veth7 10.4.3.1/24 type veth peer name veth8
odd bridge7 10.4.4.1/24 type bridge
odd bond7 10.4.5.1/24 type bond
run ip link add base7 type dummy
run ip link set base7 up
odd vlan7 10.4.6.1/24 link base7 type vlan id 7
odd macvlan7 10.4.7.1/24 link base7 type macvlan mode bridge
odd wg7 10.4.8.1/24 type wireguard
run ip link del base7
modprobe -q tun
run ip tuntap add mode tun tun7
run ip addr add 10.4.9.1/24 dev tun7
run ip link set tun7 up
try tun7
run ip link del tun7
wait_until 10 gone odd0 || fail 'tun7: the device stays'
run ip link add nocarrier type veth peer name nocarrier2
run ip addr add 10.4.10.1/24 dev nocarrier
run ip link set nocarrier up
try nocarrier
run ip link set nocarrier2 up
if [[ -e $HW/odd0 ]]; then
	wait_until 5 port_active odd0 || fail 'the carrier came and the port stays down'
fi
run ip link del nocarrier
wait_until 10 gone odd0 || fail 'nocarrier: the device stays'
# A VLAN is refused by name of the interface below, whose device serves it.
for must in dummy7 fifteen-chars-x veth7; do
	[[ " $worked " == *" $must "* ]] || fail "$must does not work"
done
ok "works on:$worked; refused on:${refused:- none}"
