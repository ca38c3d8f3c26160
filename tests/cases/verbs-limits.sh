#!/bin/bash
# As many completion queues and queue pairs as query_device says, and no more.
. "$(dirname "$0")/../lib-verbs.sh"

# no_pids: no program has a queue pair
no_pids() { rdma -j resource show qp | jq -e 'map(select(.pid)) == []' >/dev/null; }

topo 1500
alone vt_raw limits
wait_until 30 no_pids || fail 'objects of a dead program are left'
alone vt_raw answers
