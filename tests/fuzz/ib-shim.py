#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sends datagrams to the end of a cable to another host, as that host.

usage: ib-shim.py SOURCE DESTINATION ID DLID KIND...

Each KIND is one datagram, from UDP port 47911 and SOURCE, which may be any
address of this namespace. Raw IP, since the kernel has the port. IPv4 only.

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

import random
import socket
import struct
import sys

PORT = 47911
PACKET, HELLO = 0, 1


def shim(cable, kind=PACKET, hops=1, flags=0, version=1):
    return struct.pack(">BBBBI", version, kind, hops, flags, cable)


def packet(dlid, payload=64):
    """From LRH to ICRC: enough for a switch, and for an adapter to drop."""
    words = (8 + 12 + payload + 4) // 4
    return struct.pack(">BBHHH", 0, 2, dlid, words, 0x1234) + bytes(12 + payload + 4)


def datagrams(what, cable, dlid):
    lrh = packet(dlid)
    one = {
        "version": shim(cable, version=2) + lrh,
        "kind": shim(cable, kind=2) + lrh,
        "flags": shim(cable, flags=1) + lrh,
        "short": shim(cable) + lrh[:7],
        "long": shim(cable) + packet(dlid, 8000),
        "hops0": shim(cable, hops=0) + lrh,
        "hops65": shim(cable, hops=65) + lrh,
        "hello": shim(cable, HELLO, 0, 0x80) + bytes([1] * 8),
        "hellolen": shim(cable, HELLO, 0, 1) + bytes([1] * 9),
        "none": shim(cable)[:7],
        "id": shim(cable ^ 0xFFFF) + lrh,
        "port": shim(cable) + lrh,
        "hops63": shim(cable, hops=63) + lrh,
        "hops64": shim(cable, hops=64) + lrh,
    }
    if what != "fuzz":
        return [one[what]]
    rnd = random.Random(1)
    out = []
    for _ in range(100):
        data = bytearray(rnd.choice(list(one.values())))
        for _ in range(rnd.randrange(8)):
            data[rnd.randrange(min(len(data), 32))] = rnd.randrange(256)
        # A good hello would be believed: this is the peer's address.
        if data[1:2] == b"\1" and len(data) == 16:
            data.append(0)
        out.append(bytes(data[: rnd.randrange(len(data)) + 1]))
    return out


def main():
    source, destination, cable, dlid = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
    sock.bind((source, 0))
    for what in sys.argv[5:]:
        for data in datagrams(what, cable, dlid):
            port = PORT + 1 if what == "port" else PORT
            # No checksum, which IPv4 allows
            sock.sendto(struct.pack(">HHHH", port, PORT, 8 + len(data), 0) + data, (destination, 0))


main()
