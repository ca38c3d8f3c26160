#!/bin/bash
# tests/verbs/vt_flush.c over the wire, both ways round.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
both vt_flush
run vt_flush -d "$DEV_B" -g "$IP_B" -D "$DEV_A" -G "$IP_A"
