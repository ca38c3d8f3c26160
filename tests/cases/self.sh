#!/bin/bash
# A queue pair connected to itself, and both ends sending 1 MiB at once.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
both vt_self -n "$(by_kernel 10 20 2)"
