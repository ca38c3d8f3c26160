#!/bin/bash
# Several namespaces on one bridge (T55): rping between all of them, in shared
# and in exclusive mode.
. "$(dirname "$0")/../lib-verbs.sh"

count=$(by_kernel 4 3 3)

in_ns() { ip netns exec "n$1" "${@:2}"; }

all_pairs() {
	local i j pid
	for ((i = 1; i <= count; i++)); do
		for ((j = 1; j <= count; j++)); do
			((i == j)) && continue
			in_ns $i rping -s -a "10.5.0.$i" -C 3 -V >/tmp/server 2>&1 &
			pid=$!
			wait_until 5 cm_listening in_ns $i ||
				fail "n$i does not listen"
			in_ns $j timeout 30 rping -c -a "10.5.0.$i" -C 3 -V >/dev/null ||
				fail "n$j to n$i: $(cat /tmp/server)"
			wait $pid
		done
	done
}

# build MODE: bridge, namespaces and devices. The mode can change only while
# there is no namespace but the first; a deleted one takes a while to go.
build() {
	local i
	wait_until 20 rdma system set netns "$1" || fail "netns mode $1"
	run ip link add br0 type bridge
	run ip link set br0 up
	for ((i = 1; i <= count; i++)); do
		run ip netns add "n$i"
		run ip link add "v$i" type veth peer name e0 netns "n$i"
		run ip link set "v$i" master br0 up
		run in_ns $i ip addr add "10.5.0.$i/24" dev e0
		run in_ns $i ip link set lo up
		run in_ns $i ip link set e0 up
		run in_ns $i ibctl dev add "s$i" netdev e0
		# a device is in the first namespace until somebody moves it
		[[ $1 == exclusive ]] && run rdma dev set "s$i" netns "n$i"
		wait_until 5 in_ns $i grep -q ACTIVE "$HW/s$i/ports/1/state" || fail "s$i is not active"
		wait_until 5 in_ns $i grep -qrs ffff:0a05 "$HW/s$i/ports/1/gids" || fail "s$i has no GID"
	done
}

demolish() {
	local i
	for ((i = 1; i <= count; i++)); do run ip netns del "n$i"; done
	run ip link del br0
	wait_until 20 no_devices || fail "devices stay: $(ls "$HW")"
}

build shared
[[ $(ls "$HW" | wc -l) == "$count" ]] || fail "shared mode shows $(ls "$HW")"
all_pairs
ok "$count namespaces, all pairs, shared"

# In shared mode everybody sees all devices, but not what is another namespace's.
nobody() { in_ns 2 setpriv --reuid 65534 --clear-groups "$@"; }
netdev() { jq -r --arg n "$1" '.[] | select(.name == $n) | .netdev'; } # DEVICE
[[ $(ibctl -j dev list | netdev s1) == e0 ]] || fail 'root in the first namespace does not see an interface'
[[ $(in_ns 2 ibctl -j dev list | netdev s1) == e0 ]] || fail 'root in n2 does not see an interface of n1'
nobody ibctl -j dev list >/tmp/nobody || fail 'nobody may not list devices'
[[ $(netdev s2 </tmp/nobody) == e0 ]] || fail 'nobody in n2 does not see its interface'
[[ -z $(netdev s1 </tmp/nobody) ]] || fail "nobody in n2 sees n1's interface $(netdev s1 </tmp/nobody)"
[[ -z $(nobody ibctl -j dev show s1 | jq -r .netdev) ]] || fail "nobody in n2 sees n1's interface"
# not by the functions: what is killed is the program, which holds the namespace
ip netns exec n2 setpriv --reuid 65534 --clear-groups ibctl -j monitor >/tmp/told &
telling=$!
told() { # until it listens
	run ibctl dev set s1 window $((RANDOM % 99 + 1))
	run ibctl dev set s2 window $((RANDOM % 99 + 1))
	grep -q '"s1"' /tmp/told && grep -q '"s2"' /tmp/told
}
wait_until 10 told || fail "nobody is told nothing: $(cat /tmp/told)"
kill $telling
wait $telling
[[ $(jq -rs '[.[] | select(.event == "set") | [.name, .netdev]] | unique | flatten | join(" ")' /tmp/told) == 's1  s2 e0' ]] ||
	fail "nobody in n2 is told $(cat /tmp/told)"
ip netns exec n1 ibv_rc_pingpong -d s1 -g 1 >/dev/null &
pinging=$!
comms() { "$@" ibctl -j qp list s1 | jq -r '[.[].comm] | unique | join(" ")'; }
wait_until 10 eval '[[ $(comms env) == *ibv_rc_pingpong* ]]' || fail "the names are: $(comms env)"
[[ $(comms unshare --pid --fork) != *ibv_rc* ]] || fail 'a process is named in a PID namespace that does not see it'
[[ $(comms unshare --pid --fork) == *ib_* ]] || fail "the kernel's QPs have no names: $(comms unshare --pid --fork)"
kill $pinging
wait $pinging
ok 'names of interfaces and processes are for who can see those'
demolish

build exclusive
for ((i = 1; i <= count; i++)); do
	[[ $(in_ns $i ls "$HW") == "s$i" ]] || fail "n$i sees $(in_ns $i ls "$HW")"
done
all_pairs
demolish
wait_until 20 rdma system set netns shared || fail 'netns mode shared'
ok 'and exclusive'
