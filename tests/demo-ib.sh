#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What `make demo-ib` shows, on the first of two guests: an InfiniBand fabric in
# software that spans both, run by the distribution's OpenSM and seen through its
# own tools, with IP over it.
# shellcheck source=tests/lib-demo.sh
. "$(dirname "$0")/lib-demo.sh"

FABRICS=/softhca/docs/fabrics

more() {
	tail -n 20 /tmp/opensm/log
	ibctl -j cable list
}

# show COMMAND...: prints it, runs it, two minutes at the most
show() {
	printf '%s1$ %s%s\n' "$bold" "$*" "$plain"
	timeout 120 "$@" || failed "\"$*\" ended with $?"
}

# there COMMAND...: the same on the second guest
there() {
	printf '%s2$ %s%s\n' "$bold" "$*" "$plain"
	timeout 120 peer "$@" || failed "\"$*\" on the second guest ended with $?"
}

# server READY COMMAND...: starts it on the second guest, waits until it is
server() {
	local ready=$1
	shift
	printf '%s2$ %s &%s\n' "$bold" "$*" "$plain"
	peer "timeout 120 $*" >/tmp/server 2>&1 &
	server=$!
	wait_for 60 peer "$ready"
}

# served: it ended well
served() {
	wait "$server" || {
		cat /tmp/server
		failed "the server ended with $?"
	}
}

cat <<'PICTURE'
    guest 1, 10.0.0.1              guest 2, 10.0.0.2
    shca0 --- 1 sw0 3 --- UDP --- shca2
    shca1 --- 2     4 --- UDP --- shca3
PICTURE

step 'Two files declare it (the module loads by itself)'
show cat $FABRICS/two-hosts-a.yaml
show ibctl fabric apply $FABRICS/two-hosts-a.yaml
there cat $FABRICS/two-hosts-b.yaml
there ibctl fabric apply $FABRICS/two-hosts-b.yaml
all_up() { ! ibctl cable list | cut -f3 | grep -qv up; }
wait_for 60 all_up
show ibctl fabric show

step 'OpenSM finds the fabric, numbers it, routes it'
modprobe ib_umad || failed 'ib_umad'
peer modprobe ib_umad || failed 'ib_umad'
guid=$(ibctl -j dev show shca0 | jq -r .node_guid)
mkdir -p /tmp/opensm
printf '%s1$ opensm -g 0x%s &%s\n' "$bold" "${guid//:/}" "$plain"
OSM_TMP_DIR=/tmp/opensm OSM_CACHE_DIR=/tmp/opensm \
	opensm -g "0x${guid//:/}" -f /tmp/opensm/log >/tmp/opensm/out 2>&1 &
opensm=$!
all_active() { ! { ibctl dev list && peer ibctl dev list; } | cut -f4 | grep -qv active; }
wait_for 60 all_active
show ibctl dev list
there ibctl dev list

step 'infiniband-diags on the second guest sees the whole of it'
there sminfo -C shca2
there ibnetdiscover -C shca2
lid=$(peer ibctl -j dev show shca2 | jq .lid)
show ibtracert -C shca0 "$(ibctl -j dev show shca0 | jq .lid)" "$lid"

# ipoib_of: shell text that prints the IPoIB interface of device $1
# shellcheck disable=SC2016 # for the guest's shell
ipoib_of='guid=$(ibctl -j dev show $1 | jq -r .node_guid | tr -d : | sed "s/../:&/g")
ip -o link | grep -i "$guid brd" | sed "s/^[0-9]*: \([^:@]*\).*/\1/"'

step 'IP over InfiniBand'
show modprobe ib_ipoib
there modprobe ib_ipoib
one=$(bash -c "$ipoib_of" - shca0) two=$(peer "set -- shca2; $ipoib_of")
[[ $one && $two ]] || failed 'no IPoIB interface'
show ip addr add 10.9.0.1/24 dev "$one"
there ip addr add 10.9.0.2/24 dev "$two"
show ip link set "$one" up
there ip link set "$two" up
carrier() { ip link show "$one" | grep -q LOWER_UP && peer "ip link show $two | grep -q LOWER_UP"; }
wait_for 60 carrier
show ping -c 5 10.9.0.2
server 'ss -Hltn "sport = :5201" | grep -q .' iperf3 -s -1
show iperf3 -c 10.9.0.2 -t 3
served

step 'rping: rdma_cm by the addresses of IPoIB, RDMA over the fabric'
server 'rdma resource show cm_id | grep -q LISTEN' rping -s -a 10.9.0.2 -C 10 -V
show rping -c -a 10.9.0.2 -C 10 -V -v
served

step 'The fabric goes, and the module'
there modprobe -r ib_ipoib
show modprobe -r ib_ipoib
sleep 1
there ibctl fabric delete $FABRICS/two-hosts-b.yaml
show ibctl fabric delete $FABRICS/two-hosts-a.yaml
kill -KILL $opensm
wait $opensm 2>/dev/null
there modprobe -r softhca
show modprobe -r softhca
printf '\nThe demo has passed.\n'
