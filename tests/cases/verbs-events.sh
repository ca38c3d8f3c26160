#!/bin/bash
# What arming a completion queue promises, and no event lost under a hammer.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
both vt_events -n "$(by_kernel 20000 10000 1000)"
