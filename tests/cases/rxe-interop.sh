#!/bin/bash
# The wire is rdma_rxe's: rxe in the initial namespace, ours in namespace A.
. "$(dirname "$0")/../lib-verbs.sh"

sizes=$(by_kernel 0-20,255-257,1020-1030,2047-2049,4090-4099 0-4099 0-8,1023-1025,4099)

modprobe -q rdma_rxe || skip 'this kernel has no rdma_rxe'

# rxe's own counters of trouble: none may move
trouble() {
	local file
	for file in duplicate_request out_of_seq_request completer_retry_err \
		retry_exceeded_err rcvd_seq_err; do
		file=$HW/rxe0/ports/1/hw_counters/$file
		[[ -e $file ]] && printf '%s %s\n' "${file##*/}" "$(cat "$file")"
	done
}

run ip netns add A
run ip link add va netns A mtu 9000 type veth peer name vi mtu 9000
netns_end A va 1
run ip addr add "$IP_B/24" dev vi
run ip addr add "$IP6_B/64" dev vi nodad
run ip link set vi up
run rdma link add rxe0 type rxe netdev vi
run A ibctl dev add "$DEV_A" netdev va
for dev in rxe0 "$DEV_A"; do
	wait_until 5 port_active "$dev" || fail "$dev is not active"
done
wait_until 5 gid_index rxe0 "$IP_B" >/dev/null || fail 'rxe0 has no GID'
wait_until 5 gid_index "$DEV_A" "$IP_A" >/dev/null || fail "$DEV_A has no GID"

snap "$DEV_A"
trouble >/tmp/before
for mtu in 1024 4096; do
	pair_of command "vt_xfer -d rxe0 -g $IP_B -s" \
		A vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_B" -n "$sizes" -b 32 -m $mtu
	pair_of A "vt_xfer -d $DEV_A -g $IP_A -s" \
		command vt_xfer -d rxe0 -g "$IP_B" -c "$IP_A" -n "$sizes" -b 32 -m $mtu
done
pair_of command "vt_xfer -d rxe0 -g $IP6_B -s" \
	A vt_xfer -d "$DEV_A" -g "$IP6_A" -c "$IP6_B" -n 0-8,1023-1025,4099
pair_of A "vt_xfer -d $DEV_A -g $IP6_A -s" \
	command vt_xfer -d rxe0 -g "$IP6_B" -c "$IP6_A" -n 0-8,1023-1025,4099
run vt_ud -d "$DEV_A" -g "$IP_A" -D rxe0 -G "$IP_B"
run vt_ud -d rxe0 -g "$IP_B" -D "$DEV_A" -G "$IP_A"
same "$DEV_A" rx_drop_icrc rx_drop_malformed tx_retransmits rx_out_of_sequence
trouble >/tmp/after
diff /tmp/before /tmp/after || fail 'rxe had something to repeat'
dmesg | grep -i 'icrc' && fail 'a bad ICRC'
ok 'both ways, no bad ICRC, nothing repeated'
