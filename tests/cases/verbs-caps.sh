#!/bin/bash
# What a device says of itself, and what it accepts, is what it does; what is not
# there answers EOPNOTSUPP.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
alone vt_absent
both vt_caps 'ip -n A link set va down' 'ip -n A link set va up'
