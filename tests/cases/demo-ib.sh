#!/bin/bash
# What `make demo-ib` shows.
run() { "$@" || exit 1; }
run bash "$(dirname "$0")/../demo-ib.sh"
