#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sends datagrams to the end of a cable to another host, as that host.

usage: ib-shim.py SOURCE DESTINATION ID DLID KIND...

Each KIND is one datagram, from UDP port 47911 and SOURCE, which may be any
address of this namespace.

  version   of another version        kind      of no kind
  flags     a packet with flags       short     a packet without a whole LRH
  long      larger than packets are   hops0     a packet that passed no cable
  hops65    ... or too many           hello     with flags that nobody knows
  hellolen  a hello with more to it   none      too short for a shim
  id        of another cable          port      from another UDP port
  hops63    a good packet to DLID that may pass one more cable
  hops64    ... or none
  fuzz      a hundred datagrams of a seeded stream, hardly any of them good
"""

import sys

from ibwire import PORT, Cable, odd_datagrams


def main():
    source, destination, cable, dlid = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    end = Cable(source, destination, cable)
    for what in sys.argv[5:]:
        for data in odd_datagrams(what, cable, dlid):
            end.datagram(data, PORT + 1 if what == "port" else PORT)


main()
