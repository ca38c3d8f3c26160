#!/bin/bash
# The module alone listens nowhere (T50); a device listens in its namespace
# only, and its last one leaves nothing.
. "$(dirname "$0")/../lib-verbs.sh"

# what listens or taps in a namespace
ears() {
	"$1" ss -Hulnp
	"$1" cat /proc/net/ptype
	"$1" ss -Hlnp --raw --packet 2>/dev/null
}

topo_netns
for ns in command A B; do ears $ns >"/tmp/ears.$ns"; done
run modprobe softhca
for ns in command A B; do
	ears $ns | diff "/tmp/ears.$ns" - || fail "the module listens ($ns)"
done
ok 'the module listens nowhere'
run A ibctl dev add "$DEV_A" netdev va
[[ $(A ss -Huln sport = :4791) ]] || fail "$DEV_A does not listen"
for ns in command B; do
	[[ -z $($ns ss -Huln sport = :4791) ]] || fail "$DEV_A listens in $ns too"
done
run ibctl dev del "$DEV_A"
for ns in command A B; do
	ears $ns | diff "/tmp/ears.$ns" - || fail "something is left ($ns)"
done
ok 'a device listens in its namespace, and leaves nothing'
