#!/bin/bash
# What `make demo` shows.
run() { "$@" || exit 1; }
run bash "$(dirname "$0")/../demo.sh"
