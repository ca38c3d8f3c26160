#!/bin/bash
# A kernel without IPv6 (T49, booted with ipv6.disable=1): IPv4 works.
. "$(dirname "$0")/../lib-verbs.sh"

[[ -e /proc/net/if_inet6 ]] && skip 'this kernel has IPv6'
run ip netns add A
run ip netns add B
run ip link add va netns A type veth peer name vb netns B
for end in A:va:1 B:vb:2; do
	IFS=: read -r ns dev n <<<"$end"
	run ip -n "$ns" addr add "10.0.0.$n/24" dev "$dev"
	run ip -n "$ns" link set lo up
	run ip -n "$ns" link set "$dev" up
done
dev_up
rping_pair B A "$IP_B" -C 10
xfer -n 0-8,4099,65536
ok 'works without IPv6'
