#!/bin/bash
# What a device says of itself, and what it accepts, is what it does.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
both vt_caps
