#!/bin/bash
# A datagram that can not be sent stops its send queue, and nothing else: what is flushed,
# what goes on, the way back, and what ibctl says meanwhile.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
both vt_sqe
