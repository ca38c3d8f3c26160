#!/bin/bash
# The shapes of a transfer: several queue pairs, scattered pieces, events,
# inline data, every path MTU, a second address family.
. "$(dirname "$0")/../lib-verbs.sh"

sizes=0,1,3,4,63,256,1023,4097,20000

topo 9000
snap "$DEV_A"
snap "$DEV_B"
server_args -e
xfer -n "$sizes" -q 8 -e
ok 'eight queue pairs, completion events'
server_args
xfer -n "$sizes" -S 4 -q 2
xfer -n "$sizes" -S 3 -I
both vt_sges
ok 'scattered in pieces, across pages, inline data'
for mtu in 256 512 1024 2048 4096; do
	xfer -n "$sizes" -m "$mtu"
done
ok 'every path MTU'
healthy
pair_of B "vt_xfer -d $DEV_B -g $IP6_B -s" \
	A vt_xfer -d "$DEV_A" -g "$IP6_A" -c "$IP6_B" -n "$sizes"
healthy
ok 'IPv6'
