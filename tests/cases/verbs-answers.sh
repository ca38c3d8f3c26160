#!/bin/bash
# Providers that are older or newer than the module: responses cut to their room.
. "$(dirname "$0")/../lib-verbs.sh"

topo 1500
alone vt_raw answers
