#!/bin/bash
# A new user's first five minutes (T45): every GID that is listed works, and
# addresses that come and go later do so in the GID table.
. "$(dirname "$0")/../lib-verbs.sh"

# gids DEVICE: index and address of each
gids() {
	(cd "$HW/$1/ports/1/gids" && grep -v '^0000:0000:0000:0000:0000:0000:0000:0000$' -- *) |
		sort -n | sed 's/:/ /'
}

kind() { # GID: what it can reach
	case $1 in
	0000:0000:0000:0000:0000:ffff:*) echo v4 ;;
	fe80:*) echo local ;;
	*) echo v6 ;;
	esac
}

pingpong() { # GID-INDEX-A GID-INDEX-B
	local pid
	B ibv_rc_pingpong -d "$DEV_B" -g "$2" -n 100 -c >/tmp/server 2>&1 &
	pid=$!
	wait_until 5 listening 18515 B || fail 'ibv_rc_pingpong does not listen'
	A timeout 60 ibv_rc_pingpong -d "$DEV_A" -g "$1" -n 100 -c "$IP_B" || {
		cat /tmp/server
		fail "ibv_rc_pingpong, GID index $1 to $2"
	}
	wait $pid || fail "ibv_rc_pingpong server, GID index $2"
}

topo 1500
# stable privacy, as desktops have it
B sysctl -qw net.ipv6.conf.vb.addr_gen_mode=3
run B ip link set vb down
run B ip link set vb up
run ip -n B addr replace fd00::2/64 dev vb nodad
has_local() { gids "$1" | grep -q fe80; }
wait_until 10 has_local "$DEV_A" || fail "no link-local GID of $DEV_A"
wait_until 10 has_local "$DEV_B" || fail "no link-local GID of $DEV_B"
wait_until 10 gid_index "$DEV_B" "$IP6_B" >/dev/null || fail 'no IPv6 GID'
settled() { [[ -z $(A ip -6 addr show tentative)$(B ip -6 addr show tentative) ]]; }
wait_until 10 settled || fail 'addresses stay tentative'
gids "$DEV_A"
n=0
while read -r index gid; do
	# ib_core lists a GID made of vb's MAC first, although with stable privacy
	# that is no address of vb; the link-local one that is comes last.
	other=$(gids "$DEV_B" | while read -r i g; do
		[[ $(kind "$g") == "$(kind "$gid")" ]] && echo "$i"
	done | tail -n 1)
	[[ $other ]] || fail "$DEV_B has no GID like $gid"
	pingpong "$index" "$other" </dev/null
	n=$((n + 1))
done < <(gids "$DEV_A")
((n >= 3)) || fail "only $n GIDs"
ok "$n GIDs, all work"

rping_pair B A "$IP_B" -C 10
rping_pair B A "$IP6_B" -C 10
ok 'rping over IPv4 and IPv6'
link_local=$(B ip -6 -o addr show dev vb scope link | awk '{sub("/.*", "", $4); print $4}')
B rping -s -a "$link_local%vb" -C 5 -V >/dev/null 2>&1 &
server=$!
wait_until 5 cm_listening || fail 'rping does not listen on a link-local address'
run A timeout 30 rping -c -a "$link_local%va" -C 5 -V
wait $server
ok 'rping over link-local addresses'

# perftest finds no steady clock on User-mode Linux and gives no report
if [[ ${LAB_KERNEL:-} != uml ]]; then
	B ib_send_bw -d "$DEV_B" -R -n 100 >/dev/null 2>&1 &
	server=$!
	wait_until 5 cm_listening || fail 'ib_send_bw -R does not listen'
	run A timeout 60 ib_send_bw -d "$DEV_A" -R -n 100 "$IP_B"
	wait $server || fail 'ib_send_bw -R server'
	ok 'ib_send_bw -R'
fi

run ip -n A addr add 10.0.0.77/24 dev va
wait_until 5 gid_index "$DEV_A" 10.0.0.77 >/dev/null || fail 'a new address has no GID'
pingpong "$(gid_index "$DEV_A" 10.0.0.77)" "$(gid_index "$DEV_B" "$IP_B")"
run ip -n A addr del 10.0.0.77/24 dev va
gid_gone() { ! gid_index "$DEV_A" 10.0.0.77; }
wait_until 5 gid_gone >/dev/null || fail 'the GID of a removed address stays'
pingpong "$(gid_index "$DEV_A" "$IP_A")" "$(gid_index "$DEV_B" "$IP_B")"
ok 'addresses come and go'
