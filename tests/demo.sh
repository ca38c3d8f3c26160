#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What `make demo` shows, in a guest: two network namespaces joined by a veth, a
# software HCA in each, and the distribution's own programs between them.
# shellcheck source=tests/lib-demo.sh
. "$(dirname "$0")/lib-demo.sh"

# show COMMAND...: prints it, runs it
show() {
	printf '%s$ %s%s\n' "$bold" "$*" "$plain"
	"$@" || failed "\"$*\" ended with $?"
}

A() { ip netns exec A "$@"; }
B() { ip netns exec B "$@"; }

gid_there() { grep -qrs "ffff:0a00:000$2" "/sys/class/infiniband/$1/ports/1/gids"; }
cm_listens() { B rdma resource show cm_id 2>/dev/null | grep -q LISTEN; }
tcp_listens() { [[ -n $(B ss -Hltn "sport = :$1") ]]; }

# between READY SERVER -- CLIENT...: the server in B, then the client in A
between() {
	local ready=$1 pid
	local -a server=()
	shift
	while [[ $1 != -- ]]; do
		server+=("$1")
		shift
	done
	shift
	printf '%sB$ %s &%s\n' "$bold" "${server[*]}" "$plain"
	ip netns exec B "${server[@]}" >/tmp/server 2>&1 &
	pid=$!
	# shellcheck disable=SC2086 # a command and its argument
	wait_for 10 $ready
	printf '%sA$ %s%s\n' "$bold" "$*" "$plain"
	A timeout 120 "$@" || {
		cat /tmp/server
		failed "\"$*\" ended with $?"
	}
	wait "$pid" || {
		cat /tmp/server
		failed "\"${server[*]}\" ended with $?"
	}
}

cat <<'PICTURE'
    namespace A                        namespace B
    va 10.0.0.1  <------ veth ------>  vb 10.0.0.2
    shca0                              shca1
PICTURE

step 'Two network namespaces, one wire'
modprobe -q veth
show ip netns add A
show ip netns add B
show ip link add va netns A mtu 9000 type veth peer name vb netns B mtu 9000
show ip -n A addr add 10.0.0.1/24 dev va
show ip -n B addr add 10.0.0.2/24 dev vb
show ip -n A link set va up
show ip -n B link set vb up
show ip -n A link set lo up
show ip -n B link set lo up

step 'A software HCA on each end (the module loads by itself)'
show ip netns exec A ibctl dev add shca0 netdev va
show ip netns exec B ibctl dev add shca1 netdev vb
wait_for 10 gid_there shca0 1
wait_for 10 gid_there shca1 2
show ibctl dev list
show rdma link
show ibv_devinfo -d shca0

step 'rping: connects by rdma_cm, WRITEs, READs, and verifies what comes back'
between cm_listens rping -s -a 10.0.0.2 -C 10 -V -- rping -c -a 10.0.0.2 -C 10 -V -v

gid() { # DEVICE N: index of the GID of 10.0.0.N
	local file
	for file in "/sys/class/infiniband/$1"/ports/1/gids/*; do
		if grep -q "ffff:0a00:000$2" "$file"; then
			printf '%s\n' "${file##*/}"
			return
		fi
	done
}
ga=$(gid shca0 1) gb=$(gid shca1 2)

step 'ibv_rc_pingpong: the ping-pong of libibverbs, its buffers checked'
between 'tcp_listens 18515' ibv_rc_pingpong -d shca1 -g "$gb" -n 1000 -c -e -- \
	ibv_rc_pingpong -d shca0 -g "$ga" -n 1000 -c -e 10.0.0.2

step 'perftest: WRITE and READ bandwidth, SEND latency with completion events'
between 'tcp_listens 18515' ib_write_bw -d shca1 -x "$gb" -F -s 65536 -n 500 -- \
	ib_write_bw -d shca0 -x "$ga" -F -s 65536 -n 500 10.0.0.2
between 'tcp_listens 18515' ib_read_bw -d shca1 -x "$gb" -F -s 65536 -n 500 -- \
	ib_read_bw -d shca0 -x "$ga" -F -s 65536 -n 500 10.0.0.2
between 'tcp_listens 18515' ib_send_lat -d shca1 -x "$gb" -F -e -s 64 -n 500 -- \
	ib_send_lat -d shca0 -x "$ga" -F -e -s 64 -n 500 10.0.0.2

step '64 MiB in each kind of transfer, every byte verified'
between 'tcp_listens 18600' vt_xfer -d shca1 -g 10.0.0.2 -s -- \
	vt_xfer -d shca0 -g 10.0.0.1 -c 10.0.0.2 -o SEND,WRITE,READ -n 1048576 -T 67108864

step 'What the counters say of it'
show ibctl stats shca0
copied=$(cat /sys/class/infiniband/shca0/ports/1/hw_counters/tx_bytes_copied)
referenced=$(cat /sys/class/infiniband/shca0/ports/1/hw_counters/tx_bytes_referenced)
printf '\nshca0 sent %s bytes from the pages of the program itself and copied %s\n(small messages and headers of the programs above).\n' \
	"$referenced" "$copied"
((referenced > 128 * 1048576)) || failed "only $referenced bytes went without a copy"
((copied < referenced / 100)) || failed "$copied bytes were copied"

step 'The devices go, and the module'
show ibctl dev del shca0
show ibctl dev del shca1
show modprobe -r softhca
printf '\nThe demo has passed.\n'
