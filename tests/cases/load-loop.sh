#!/bin/bash
# 50 loads and unloads (T01), a connection in the middle of each fifth one.
. "$(dirname "$0")/../lib-verbs.sh"

rounds=$(by_kernel 50 50 10)

topo_netns
for ((i = 0; i < rounds; i++)); do
	dev_up
	if ((i % 5 == 0)); then
		rping_pair B A "$IP_B" -C 5
	fi
	if ((i % 2)); then
		run ibctl dev del "$DEV_A"
		run ibctl dev del "$DEV_B"
	fi
	unload_now
	no_devices || fail "round $i: $(ls "$HW") stays"
done
[[ -z $(A ss -Huln sport = :4791)$(B ss -Huln sport = :4791) ]] || fail 'port 4791 stays open'
ok "$rounds times"
