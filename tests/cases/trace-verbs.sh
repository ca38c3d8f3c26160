#!/bin/bash
# ibctl trace verbs: control-path operations of softhca and of rdma_rxe, by a process
# and by the kernel, with their errors.
. "$(dirname "$0")/../lib-trace.sh"

# did DEVICE COMM OP...: each at least once, in some time, without an error
did() {
	local op dev=$1 comm=$2
	shift 2
	for op; do
		q "any(.dev == \"$dev\" and .comm == \"$comm\" and .op == \"$op\" and .errno == 0 and .ns > 0)"
	done
}

# as_many DEVICE COMM OP OP: the two are equally often done
as_many() {
	q "map(select(.dev == \"$1\" and .comm == \"$2\")) | (map(select(.op == \"$3\")) | length) as \$n
		| \$n > 0 and (map(select(.op == \"$4\")) | length) == \$n"
}

modprobe -qa rdma_rxe dummy || skip 'this kernel has no rdma_rxe'
refused ibctl trace verbs nosuch
topo 1500
run ip link add d0 up type dummy
run ip addr add 10.9.0.1/24 dev d0
wait_until 5 grep -q . /sys/class/net/d0/address

start verbs
run rdma link add rxe0 type rxe netdev d0
wait_until 10 gid_index rxe0 10.9.0.1 >/dev/null || fail 'rxe0 has no GID'
gid=$(gid_index rxe0 10.9.0.1)
ibv_ud_pingpong -d rxe0 -g "$gid" -n 5 >/tmp/ud.server 2>&1 &
server=$!
wait_until 20 listening 18515 || fail 'ibv_ud_pingpong does not listen'
run ibv_ud_pingpong -d rxe0 -g "$gid" -n 5 localhost
wait $server || fail "server: $(cat /tmp/ud.server)"
xfer -o SEND -n 4096 -T 65536
# whose memory may not be locked
vt_mistake -d "$DEV_A" -g "$IP_A" -D "$DEV_B" -G "$IP_B" mtu
run rdma link del rxe0
stop 'not on this kernel'

objects=('open device' 'create PD' 'register MR' 'create CQ' 'create QP' 'modify QP' 'destroy QP' 'deregister MR'
	'destroy CQ' 'destroy PD')
did rxe0 ibv_ud_pingpong "${objects[@]}" 'create AH' 'query port'
did "$DEV_A" vt_xfer "${objects[@]}" 'query port'
for dev in rxe0:ibv_ud_pingpong "$DEV_A:vt_xfer" "$DEV_B:vt_xfer"; do
	for what in QP CQ PD; do
		as_many "${dev%:*}" "${dev#*:}" "create $what" "destroy $what"
	done
done
# three steps to RTS, and each QP is named
q "map(select(.dev == \"$DEV_A\" and .comm == \"vt_xfer\" and .op == \"modify QP\")) | length >= 3"
ok "process: $(jq -s 'length' /tmp/verbs) operations of rxe and softhca"

# the kernel's own: ib_mad has a QP on each device
q 'any(.dev == "rxe0" and .comm == "rdma" and .op == "create QP" and .function == "ib_create_qp_kernel" and .errno == 0)'
q 'any(.dev == "rxe0" and .op == "modify QP" and .qpn == 1)'
q 'any(.dev == "rxe0" and .op == "destroy QP" and .qpn == 1 and .function == "ib_destroy_qp_user")'
ok "kernel: rxe0's QP 1"

# an error has its name
q "any(.comm == \"vt_mistake\" and .op == \"modify QP\" and .errno > 0 and (.error | startswith(\"E\")))"
ok "errors: $(jq -c 'select(.errno > 0) | [.dev, .op, .error, .function]' /tmp/verbs | sort | uniq -c | head -n 5)"

# filters
start verbs "$DEV_B" --comm vt_xfer
xfer -o SEND -n 64 -T 640
stop 'not on this kernel'
q "length > 5 and all(.dev == \"$DEV_B\" and .comm == \"vt_xfer\")"
ok 'a device and a program alone'

cat >/tmp/untyped <<'E'
mount -t tmpfs none /sys/kernel/btf && exec ibctl trace verbs --duration 1ms
E
refused unshare -m sh /tmp/untyped 2>/tmp/refusal
grep -q 'to trace verbs needs the types of this kernel' /tmp/refusal || fail "refused with: $(cat /tmp/refusal)"
ok "without BTF: $(cat /tmp/refusal)"
