#!/bin/bash
# Multicast over native InfiniBand from user space: queue pairs attached to groups,
# the limits that a device names, and mckey, which joins by rdma_cm and the SM.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib-ib.sh"

back_to_back
run rdma statistic qp set link shca1/1 auto type on
run vt_mcast shca0 shca1
ok 'attach, detach, and no more members than there may be'

# Each member's counter had the packet, and the port has it once, whatever bound
# queue pairs have counted. Packets of the subnet manager come meanwhile.
received() { ibctl -j stats shca1 | jq -er 'map(select(.counter == "rx_packets"))[0].value'; }
low=$(received) || fail 'no rx_packets'
sleep 0.05 # ib_core shows values of 10 ms ago
shown=$(counter shca1 rx_packets)
high=$(received)
((low <= shown && shown <= high)) || fail "sysfs has $shown packets, the device has received $low to $high"
run rdma statistic qp set link shca1/1 auto off
ok "$shown packets of the port"

run ibctl cable del shca0/1
run ibctl switch add sw0 ports 4
run ibctl cable add shca0/1 sw0/1
run ibctl cable add shca1/1 sw0/2
osm_sweep shca0
active shca0 shca1
run modprobe ib_ipoib
run modprobe rdma_ucm
run ip addr add 10.9.0.1/24 dev ib0
run ip addr add 10.9.1.1/24 dev ib1
run ip link set ib0 up
run ip link set ib1 up
has_carrier() { ip link show ib0 | grep -q LOWER_UP && ip link show ib1 | grep -q LOWER_UP; }
wait_until 30 has_carrier || {
	osm_log
	fail 'IPoIB has no carrier'
}
# IPoIB's own port space, so that both join the group that SM and IPoIB know.
timeout 60 mckey -m 239.9.9.9 -b 10.9.1.1 -C 10 -p 0x0002 >/tmp/receiver 2>&1 &
receiver=$!
wait_until 30 grep -q 'receiving data\|joined' /tmp/receiver || true
sent() {
	timeout 20 mckey -m 239.9.9.9 -b 10.9.0.1 -s -C 10 -p 0x0002 >/tmp/sender 2>&1 || true
	! kill -0 $receiver 2>/dev/null
}
wait_until 40 sent || {
	cat /tmp/receiver /tmp/sender
	fail 'the members get nothing'
}
wait $receiver || fail "mckey ended with $?: $(cat /tmp/receiver)"
cat /tmp/receiver /tmp/sender
ok 'mckey through a switch'

run ip link set ib0 down
run ip link set ib1 down
run modprobe -r ib_ipoib
osm_stop shca0 KILL
