#!/bin/bash
# Every operation, sizes from 0 to 4099 (rxe-interop has them all), both ways, every byte verified.
. "$(dirname "$0")/../lib-verbs.sh"

sizes=$(by_kernel 0-70,250-260,1000-1100,2040-2060,4080-4099 0-300,1000-1100,2030-2060,4050-4099 0-8,1023-1025,4099)

topo 1500
snap "$DEV_A"
snap "$DEV_B"
xfer -n "$sizes" -b 64
back -n "$sizes" -b 64
xfer -n "$(by_kernel 1048575,1048577 1048575,1048577 65537)"
healthy
ok "sizes $sizes"
