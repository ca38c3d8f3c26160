#!/bin/bash
# What infiniband-diags show of a RoCE port, of whatever make: ibstat and ibstatus do;
# perfquery does not, since it wants QP 0 and LIDs. The performance agent it would ask
# is there, and answers whoever addresses it by GID.
. "$(dirname "$0")/../lib-verbs.sh"

readonly PMA=/softhca/tests/probes/pma.py

# umad DEVICE: its file
umad() {
	local dir
	for dir in /sys/class/infiniband_mad/umad*; do
		[[ $(cat "$dir/ibdev") == "$1" ]] && echo "/dev/infiniband/${dir##*/}" && return
	done
	fail "$1 has no umad"
}

# says FILE PATTERN...
says() {
	local p
	for p in "${@:2}"; do
		grep -Eq -- "$p" "$1" || fail "nothing like '$p': $(cat "$1")"
	done
}

modprobe -qa ib_umad rdma_rxe dummy || skip 'this kernel has no rdma_rxe'
topo 1500

ibstat "$DEV_A" >/tmp/o || fail "ibstat: $(cat /tmp/o)"
says /tmp/o "^CA '$DEV_A'" 'State: Active' 'Physical state: LinkUp' 'Link layer: Ethernet'
ibstatus "$DEV_A" >/tmp/o || fail "ibstatus: $(cat /tmp/o)"
says /tmp/o "'$DEV_A' port 1 status" 'state:.*ACTIVE' 'link_layer:.*Ethernet' "default gid:.*fe80:"
ok 'ibstat and ibstatus'

# perfquery on ours and on rdma_rxe: the same refusal of ib_core, which gives QP 0 to
# ports of native InfiniBand alone
run ip link add d0 up type dummy
run ip addr add 10.9.0.1/24 dev d0
run rdma link add rxe0 type rxe netdev d0
for dev in "$DEV_A" rxe0; do
	strace -o /tmp/calls -e trace=ioctl perfquery -C "$dev" -P 1 >/tmp/o 2>&1 && fail "perfquery works on $dev: $(cat /tmp/o)"
	says /tmp/calls 'ioctl\(.*= -1 EPROTONOSUPPORT'
	ok "perfquery on $dev: $(head -n 1 /tmp/o); $(grep -m 1 EPROTONOSUPPORT /tmp/calls)"
done
# nor could it send: by LID alone there is no way over Ethernet
for dev in "$DEV_A" rxe0; do
	refused python3 $PMA "$(umad "$dev")" lid 1 2>/tmp/o
	says /tmp/o '^EINVAL$'
done
ok 'a MAD without a GRH: EINVAL on both'

# by GID it arrives, and the answer is what the peer's sysfs says; by an IPv6 GID, since
# ib_mad compares an answer's GRH, which IPv4 has not, with the GID that asked
xfer -o WRITE -n 65536 -T $MIB -m 1024
python3 $PMA "$(umad "$DEV_A")" "$(gid_index "$DEV_A" "$IP6_A")" "$IP6_B" >/tmp/o || fail "by GID: $(cat /tmp/o)"
for name in port_xmit_data port_rcv_data port_xmit_packets port_rcv_packets; do
	there=$(sed -n "s/^$name //p" /tmp/o) now=$(cat "$HW/$DEV_B/ports/1/counters/$name")
	# the question and its answer are packets too, of 256 bytes and 24 of headers
	((there > 0 && now >= there && now - there < 200)) || fail "$name: by the wire $there, in sysfs $now"
done
(($(sed -n 's/^port_rcv_packets //p' /tmp/o) >= MIB / 1024)) || fail "$(cat /tmp/o)"
ok "by GID: $(tr '\n' ' ' </tmp/o)"
