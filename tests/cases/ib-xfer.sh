#!/bin/bash
# RC over native InfiniBand, every byte verified: every operation, sizes about those
# of a packet, every path MTU, scattered; by LID and by GID, through a switch, over
# UDP to another host, and within a port.
. "$(dirname "$0")/../lib-verbs.sh"
. "$(dirname "$0")/../lib-ib.sh"

sizes=$(by_kernel 0-70,250-260,1000-1100,2040-2060,4080-4110 0-40,255-257,1023-1025,2047-2049,4090-4100 0-8,1023-1025,4095-4097)
some=0,1,3,63,1023,4097,20000

# xfer SERVER-DEVICE ARGUMENT...: from shca0; HOW: -g 0 by GID, else by LID
HOW=()
xfer() {
	local to=$1
	shift
	pair_of command "vt_xfer -d $to ${HOW[*]} -s" command vt_xfer -d shca0 -c 127.0.0.1 "${HOW[@]}" "$@"
}

#	shca0 - sw0/1    shca1 - sw0/2    sw0/3 = UDP = shca2
topo_netns 1500
star 2
run ibctl dev add shca2 link ib
run A ibctl cable add sw0/3 remote "$IP_B" id 1
run B ibctl cable add shca2/1 remote "$IP_A" id 1
osm_start shca0 --sweep 2
active shca0 shca1 shca2
snap shca0
snap shca1
snap shca2

xfer shca1 -n "$sizes" -b 64
xfer shca1 -n "$(by_kernel 1048575,1048577 65535,65537 65537)" -m 4096
ok "by LID: $sizes and large ones"
HOW=(-g 0)
xfer shca1 -n "$sizes" -b 64
ok 'by GID'
for mtu in 256 512 1024 2048 4096; do
	xfer shca1 -n "$some" -m $mtu
done
HOW=()
xfer shca1 -n "$some" -S 4 -q 4
xfer shca1 -n "$some" -S 3 -I
run vt_sges -d shca0 -D shca1
run vt_mix -d shca0 -D shca1 -n "$(by_kernel 100 20 5)"
ok 'every path MTU, several queue pairs, pieces, inline data, mixed lists'
healthy

xfer shca2 -n "$some,4095-4097" -m 4096
HOW=(-g 0)
xfer shca2 -n "$some" -m 2048
ok 'over UDP to another host'
HOW=()
xfer shca0 -n "$some"
ok 'within a port'
same shca2 rx_drop_icrc rx_drop_malformed rx_bad_response qp_errors
same shca0 rx_drop_icrc rx_drop_malformed rx_bad_response qp_errors
osm_stop shca0 KILL
