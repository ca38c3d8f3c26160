#!/bin/bash
# A wire that large packets never get through, while small ones do, 10 ms away: the
# peer is heard, but the message ends with its retries.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
netem delay 10ms
run B nft 'add table inet t; add chain inet t c { type filter hook input priority 0; }; add rule inet t c udp dport 4791 meta length gt 1000 drop'
snap "$DEV_A"
B vt_xfer -d "$DEV_B" -g "$IP_B" -s >/dev/null 2>&1 &
server=$!
refused A timeout 60 vt_xfer -d "$DEV_A" -g "$IP_A" -c "$IP_B" -o SEND -n 1500 -T 1500 -w 60000 -O 14
kill "$server"
(($(grown "$DEV_A" retry_exceeded) == 1)) || fail 'a packet that never gets through does not end the queue pair'
(($(grown "$DEV_A" rx_out_of_sequence) > 0)) || fail 'the peer was not heard'
ok 'large packets never arrive: the retries end'
