#!/bin/bash
# Datagrams over the wire: IPv4, IPv6 and both link-local addresses.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
snap "$DEV_B"
both vt_ud
run vt_ud -d "$DEV_A" -g "$IP6_A" -D "$DEV_B" -G "$IP6_B"
(($(grown "$DEV_B" rx_drop_qkey) == 2)) ||
	fail "rx_drop_qkey grew by $(grown "$DEV_B" rx_drop_qkey), not by 2"
(($(grown "$DEV_B" rx_drop_qpn) == 2)) ||
	fail "rx_drop_qpn grew by $(grown "$DEV_B" rx_drop_qpn), not by 2"
(($(grown "$DEV_B" rx_drop_no_rwqe) == 10)) ||
	fail "rx_drop_no_rwqe grew by $(grown "$DEV_B" rx_drop_no_rwqe), not by 10"
ok 'every drop counted under its reason'
