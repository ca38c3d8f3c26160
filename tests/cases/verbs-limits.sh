#!/bin/bash
# As many completion queues and queue pairs as query_device says, and no more; and
# no more memory for their rings than the process may have.
. "$(dirname "$0")/../lib-verbs.sh"

# no_pids: no program has a queue pair
no_pids() { rdma -j resource show qp | jq -e 'map(select(.pid)) == []' >/dev/null; }

topo 1500
alone vt_raw limits
wait_until 30 no_pids || fail 'objects of a dead program are left'
alone vt_raw answers

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
run rmdir /tmp/cgroup/small
run umount /tmp/cgroup
ok 'rings are charged to the memory cgroup of their process'
