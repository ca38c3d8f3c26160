#!/bin/bash
# kill -9 under traffic (T04): pairs of programs, a random one is killed and
# its pair started anew. What is left afterwards is nothing.
. "$(dirname "$0")/../lib-verbs.sh"

pairs=$(by_kernel 4 2 2) kills=$(by_kernel 20 10 6)
declare -a server client

start_pair() { # N
	local port=$((18700 + $1))
	ip netns exec B vt_xfer -d "$DEV_B" -g "$IP_B" -s -p $port -w 60000 -t 3000 >"/tmp/server.$1" 2>&1 &
	server[$1]=$!
	ip netns exec A vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_B" -p $port -n 1,4096,65536 \
		-T $((1 << 34)) -q 4 -b 32 -w 60000 -t 3000 >"/tmp/client.$1" 2>&1 &
	client[$1]=$!
}

# qps: of programs, not the one for the connection manager
no_qps() { rdma -j resource show qp | jq -e 'map(select(.pid)) == []' >/dev/null; }

topo 1500
RANDOM=1
for ((i = 0; i < pairs; i++)); do start_pair $i; done
for ((k = 0; k < kills; k++)); do
	wait_until 30 sent "$DEV_A" $(($(counter "$DEV_A" tx_packets) + 200)) ||
		fail "kill $k: no traffic any more"
	n=$((RANDOM % pairs))
	[[ -d /proc/${server[n]} && -d /proc/${client[n]} ]] || {
		tail -n 30 "/tmp/server.$n" "/tmp/client.$n"
		fail "kill $k: pair $n ended by itself"
	}
	if ((RANDOM % 2)); then
		kill -9 "${server[n]}"
	else
		kill -9 "${client[n]}"
	fi
	# the other one hears of it through its control connection
	wait "${server[n]}" "${client[n]}"
	start_pair $n
done
for ((i = 0; i < pairs; i++)); do kill -9 "${server[i]}" "${client[i]}"; done
wait
wait_until 10 no_qps || {
	rdma resource show qp
	fail 'queue pairs of dead programs are left'
}
rdma -j resource show mr | jq -e 'map(select(.pid)) == []' >/dev/null ||
	fail 'memory regions of dead programs are left'
xfer -n 1,4096,65536
unload_now
ok "$kills programs killed"
