#!/bin/bash
# As many completion queues and queue pairs as query_device says, and no more; no
# more memory for them than the process may have; and who takes all address handles
# of a device leaves the connection manager its own.
. "$(dirname "$0")/../lib-verbs.sh"

# no_pids: no program has a queue pair
no_pids() { rdma -j resource show qp | jq -e 'map(select(.pid)) == []' >/dev/null; }

topo 1500
alone vt_raw limits
wait_until 30 no_pids || fail 'objects of a dead program are left'
alone vt_raw answers

mkfifo /tmp/ahs.in
vt_raw -d "$DEV_A" -g "$IP_A" ahs </tmp/ahs.in >/tmp/ahs.out 2>&1 &
AHS=$!
exec 8>/tmp/ahs.in
wait_until 120 grep -q '^ready' /tmp/ahs.out || fail "vt_raw ahs: $(cat /tmp/ahs.out)"
rping_pair B A "$IP_B" -C 2
rping_pair A B "$IP_A" -C 2
echo >&8
exec 8>&-
wait "$AHS" || fail "vt_raw ahs: $(cat /tmp/ahs.out)"
ok 'connections while a process has all address handles'

# 64 MiB hold seven of the largest completion queues.
run mkdir /tmp/cgroup
run mount -t cgroup2 none /tmp/cgroup
echo +memory >/tmp/cgroup/cgroup.subtree_control || fail 'no memory controller'
run mkdir /tmp/cgroup/small
echo 64M >/tmp/cgroup/small/memory.max
charged() {
	echo 0 >/tmp/cgroup/small/cgroup.procs
	vt_raw -d "$DEV_A" -g "$IP_A" charge
}
rc=0
(charged) || rc=$?
# refused, or killed because the cgroup has no more memory
((rc == 0)) || grep -q '^oom_kill [1-9]' /tmp/cgroup/small/memory.events ||
	fail "vt_raw charge ended with $rc"
empty() { [[ ! -s /tmp/cgroup/small/cgroup.procs ]]; }
wait_until 30 empty || fail 'the process lives on'

# a page for the rings and two bursts of a page each: 12 KiB a queue pair at least
small() {
	echo 0 >/tmp/cgroup/small/cgroup.procs
	vt_raw -d "$DEV_A" -g "$IP_A" charge-qp >/tmp/charge-qp
}
rc=0
(small) || rc=$?
((rc == 0 || rc == 137)) || fail "vt_raw charge-qp ended with $rc: $(cat /tmp/charge-qp)"
n=$(grep '^[0-9]*$' /tmp/charge-qp | tail -1)
((n > 500 && n < 65536 / 12)) || fail "$n queue pairs in 64 MiB"
wait_until 30 empty || fail 'the process lives on'
ok "$n small queue pairs in 64 MiB"
run rmdir /tmp/cgroup/small
run umount /tmp/cgroup
ok 'rings are charged to the memory cgroup of their process'
