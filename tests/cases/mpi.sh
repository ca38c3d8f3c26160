#!/bin/bash
# UCX and Open MPI of the distribution over UD queue pairs: ucx_perftest, and an
# MPI program whose ranks have a device each and compare what they get, over the
# wire and over native InfiniBand. RC of UCX needs shared receive queues.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

# UCX 1.13 takes a bit field of mlx5's for the kind of a datagram's header.
export UCX_TLS=ud_verbs,self UCX_UD_VERBS_ETH_DGID_CHECK=n
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
LIMIT=$(by_kernel 120 120 400)

# perftest DEVICE DEVICE TEST SIZE: one server, one client
perftest() {
	local pid
	UCX_NET_DEVICES=$2:1 timeout "$LIMIT" ucx_perftest -p 13337 >/tmp/server 2>&1 &
	pid=$!
	wait_until "$LIMIT" listening 13337 || fail "ucx_perftest does not listen: $(cat /tmp/server)"
	UCX_NET_DEVICES=$1:1 timeout "$LIMIT" ucx_perftest -p 13337 127.0.0.1 -t "$3" -n 50 -s "$4" >/tmp/client 2>&1 ||
		fail "ucx_perftest -t $3 -s $4: $(tail -n 20 /tmp/client /tmp/server)"
	wait "$pid" || fail "the server of ucx_perftest ended with $?: $(tail -n 20 /tmp/server)"
	grep -q '^Final: ' /tmp/client || fail "ucx_perftest printed no figure: $(cat /tmp/client)"
}

cat >/tmp/ring.py <<'P'
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
before, after = (rank - 1) % ranks, (rank + 1) % ranks


def text(r, size):
    return (bytes((r * 7 + i) & 255 for i in range(251)) * (size // 251 + 1))[:size]


for size in (0, 1, 1000, 5000, 100000, 1 << 20):
    got = world.sendrecv(text(rank, size), dest=after, source=before)
    assert got == text(before, size), f"rank {rank}: {size} bytes are not those of rank {before}"
assert world.allreduce(rank + 1) == ranks * (ranks + 1) // 2
print(f"rank {rank} of {ranks}: all is right")
P

# mpi DEVICE DEVICE: a rank on each
mpi() {
	local rank=()
	for dev in "$1" "$2"; do
		rank+=(-np 1 -x "UCX_NET_DEVICES=$dev:1" python3 /tmp/ring.py :)
	done
	timeout "$LIMIT" mpirun.openmpi --mca plm isolated --oversubscribe --mca pml ucx \
		--mca opal_common_ucx_devices any --mca opal_common_ucx_tls any \
		"${rank[@]::${#rank[@]}-1}" >/tmp/mpi 2>&1 || fail "mpirun ended with $?: $(tail -n 20 /tmp/mpi)"
	[[ $(grep -c 'of 2: all is right' /tmp/mpi) == 2 ]] || fail "ranks are missing: $(cat /tmp/mpi)"
}

# between DEVICE DEVICE WORDS: and it went by packets between the two
between() {
	local was
	was=$(counter "$2" rx_packets)
	perftest "$1" "$2" tag_lat 8
	perftest "$1" "$2" tag_bw 65536
	mpi "$1" "$2"
	(($(counter "$2" rx_packets) - was > 1000)) || fail "$2 has not got the packets"
	ok "UCX and MPI over UD, $3"
}

topo 1500
between "$DEV_A" "$DEV_B" 'over a wire'
ibctl dev del "$DEV_A"
ibctl dev del "$DEV_B"
back_to_back
between shca0 shca1 'over native InfiniBand'
osm_stop shca0 KILL
