# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Native InfiniBand packets, good and bad, and the cable to another host for them.

A cable to another host is UDP with a shim of eight bytes in front of each packet
(docs/WIRE.md).  What is sent here is raw IP, v4 or v6, since the kernel has the
UDP port.
"""

import random
import socket
import struct
import zlib

PORT = 47911
PACKET, HELLO = 0, 1
UD_SEND_ONLY = 0x64
GSI_QKEY = 0x80010000


class Cable:
    """The far end of cable @number, from @source, which may be any address of this
    namespace, to @destination"""

    def __init__(self, source, destination, number):
        family = socket.AF_INET6 if ":" in source else socket.AF_INET
        self.destination = destination
        self.number = number
        self.sock = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_UDP)
        if family == socket.AF_INET6:   # where UDP has to have a checksum
            self.sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_CHECKSUM, 6)
        self.sock.bind((source, 0))

    def datagram(self, data, port=PORT):
        """Whatever it is, from that UDP port"""
        udp = struct.pack(">HHHH", port, PORT, 8 + len(data), 0)
        self.sock.sendto(udp + data, (self.destination, 0))

    def packet(self, data, hops=1):
        """One that has passed so many cables, with this one"""
        self.datagram(shim(self.number, hops=hops) + data)


def shim(cable, kind=PACKET, hops=1, flags=0, version=1):
    return struct.pack(">BBBBI", version, kind, hops, flags, cable)


def odd_datagrams(what, cable, dlid):
    """What ib-shim.py says of each kind, without a UDP header"""
    lrh = _not_for_long(dlid)
    one = {
        "version": shim(cable, version=2) + lrh,
        "kind": shim(cable, kind=2) + lrh,
        "flags": shim(cable, flags=1) + lrh,
        "short": shim(cable) + lrh[:7],
        "long": shim(cable) + _not_for_long(dlid, 8000),
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


def _not_for_long(dlid, payload=64):
    """From LRH to ICRC: enough for a switch, and for an adapter to drop (QP 0 on VL 0)"""
    words = (8 + 12 + payload + 4) // 4
    return struct.pack(">BBHHH", 0, 2, dlid, words, 0x1234) + bytes(12 + payload + 4)


def frame(vl, dlid, slid, qpn, opcode, body, grh=None, psn=0, pkey=0xFFFF, sl=0, lver=0,
          lnh=None, words=None, pad=None, tver=0, byte4=0, ip=6, tclass=0, after=None,
          next_hdr=0x1B, hop_limit=64, flip=0):
    """From LRH to ICRC; of the right shape if nothing from @lver on is given.

    body: extension headers and payload; grh: both GIDs; lnh, words, pad, after: other
    than is so (PktLen in words, bytes of padding, bytes behind the GRH); ip: IPVer;
    byte4: FECN and BECN; flip: xor into the ICRC.
    """
    zeros = -len(body) % 4
    flags = 0x40 | (zeros if pad is None else pad) << 4 | tver
    rest = struct.pack(">BBHII", opcode, flags, pkey, byte4 << 24 | qpn, psn) + body + bytes(zeros)
    head = b""
    if grh is not None:
        head = struct.pack(">IHBB", ip << 28 | tclass << 20,
                           len(rest) + 4 if after is None else after, next_hdr, hop_limit) + grh
    if words is None:
        words = (8 + len(head) + len(rest) + 4) // 4
    if lnh is None:
        lnh = 3 if head else 2
    lrh = struct.pack(">BBHHH", vl << 4 | lver, sl << 4 | lnh, dlid, words & 0x7FF, slid)
    whole = lrh + head + rest
    # What switches and routers change is taken as ones (IBA 7.8.1).
    masked = bytearray(whole)
    masked[0] |= 0xF0
    if head:
        masked[8] |= 0x0F
        masked[9:12] = b"\xff\xff\xff"
        masked[15] = 0xFF
    masked[8 + len(head) + 4] = 0xFF
    return whole + struct.pack("<I", zlib.crc32(bytes(masked)) ^ flip)


def deth(qkey, qpn):
    return struct.pack(">II", qkey, qpn)
