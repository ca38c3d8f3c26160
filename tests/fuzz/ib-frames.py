#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Native InfiniBand packets that nobody should send, by a cable from another host.

usage: ib-frames.py SOURCE DESTINATION ID COUNT SEED LID...

COUNT of them from a seeded stream, as the host at the other end of cable ID: good
ones for queue pairs that there are and are not, for LIDs (those given, and others)
and groups, with every VL, opcode, P_Key and Q_Key; management datagrams with hop
pointers out of range and everything else wrong in them; the same with some bytes
changed, cut off, or more of it than their LRH says.
"""

import random
import struct
import sys

from ibwire import GSI_QKEY, UD_SEND_ONLY, Cable, deth, frame

SMP_ATTRS = [0x02, 0x10, 0x11, 0x12, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1B, 0x20, 0x30, 0xFFFF]
PERF_ATTRS = [0x01, 0x12, 0x1D, 0x13, 0x35]


def smp(rnd):
    cnt = rnd.choice([0, 0, 1, 1, 2, 62, 63, 64, 65, 255])
    ptr = rnd.choice([0, 1, 1, 2, 63, 64, 65, 255, cnt, (cnt + 1) & 255])
    method = rnd.choice([1, 1, 2, 2, 3, 5, 7, 0x81, rnd.randrange(256)])
    mod = rnd.choice([0, 1, 2, 0xFF, 0x80000001, 0xFFFFFFFF, rnd.getrandbits(32)])
    # ib-mads.py is for what a Set can do; here nodes stay as they are.
    if method == 2:
        mod = 0xFFFFFFFF
    lids = [rnd.choice([0xFFFF, 0xFFFF, 0, 1, 0xC000]) for _ in range(2)]
    head = struct.pack(">BBBBHBBQHHIQHH", rnd.choice([1, 1, 1, 0, 255]), rnd.choice([0x81, 0x81, 0x01]),
                       rnd.choice([1, 1, 2]), method, rnd.choice([0, 0, 0x8000, 0xFFFF]), ptr, cnt,
                       rnd.getrandbits(64), rnd.choice(SMP_ATTRS), 0, mod, 0, *lids)
    paths = bytes(rnd.randrange(256) if rnd.random() < 0.3 else rnd.randrange(4) for _ in range(128))
    data = bytes(64) if method == 2 else rnd.randbytes(64)
    return head + bytes(28) + data + paths


def gmp(rnd):
    mad = bytearray(rnd.randbytes(256))
    mad[0:4] = bytes([1, rnd.choice([4, 4, 3, 7, 9, 0x81]), rnd.choice([1, 1, 2]), rnd.choice([1, 2, 0x81, rnd.randrange(256)])])
    mad[16:18] = struct.pack(">H", rnd.choice(PERF_ATTRS))
    return bytes(mad[:rnd.choice([256, 256, 256, 0, 24, 255])])


def make(rnd, lids):
    lid = rnd.choice(lids)
    kind = rnd.randrange(7)
    if kind <= 1:
        return frame(15, rnd.choice([0xFFFF, lid]), rnd.choice([0xFFFF, 9]), 0, UD_SEND_ONLY, deth(0, 0) + smp(rnd))
    if kind == 2:
        return frame(rnd.choice([0, 0, 15]), lid, 9, 1, UD_SEND_ONLY, deth(rnd.choice([GSI_QKEY, GSI_QKEY, 1]), 1) + gmp(rnd),
                     pkey=rnd.choice([0xFFFF, 0xFFFF, 0x8001]))
    opcode = rnd.choice([UD_SEND_ONLY, 0x04, 0x06, 0x0A, 0x0C, 0x11, rnd.randrange(256)])
    good = frame(rnd.choice([0, 0, 1, 7, 15, rnd.randrange(16)]),
                 rnd.choice([lid, lid, lid, 0xC000, 0xC123, 0xFFFF, 0, rnd.randrange(65536)]),
                 rnd.choice([9, 9, 9, 0, 0xC001, 0xFFFF]),
                 rnd.choice([0, 1, 17, 18, 19, 20, 0xFFFFFF, rnd.randrange(1 << 24)]), opcode,
                 rnd.randbytes(rnd.choice([0, 1, 8, 16, 28, 100, 1024])),
                 grh=rnd.randbytes(32) if rnd.random() < 0.4 else None, psn=rnd.getrandbits(32),
                 pkey=rnd.choice([0xFFFF, 0xFFFF, 0x7FFF, 0, 0x8001]), sl=rnd.randrange(16))
    if kind <= 4:
        return good
    bad = bytearray(good)
    for _ in range(rnd.randrange(1, 6)):
        bad[rnd.randrange(min(len(bad), 100))] = rnd.randrange(256)
    if kind == 5:
        return bytes(bad)
    return bytes(bad[:rnd.randrange(len(bad) + 1)]) if rnd.random() < 0.7 else bytes(good) + bytes(4)


def main():
    source, destination, cable, count, seed = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    lids = [int(a) for a in sys.argv[6:]]
    rnd = random.Random(seed)
    cable = Cable(source, destination, cable)
    for _ in range(count):
        hops = rnd.choice([1, 1, 1, 1, 63, 64])
        cable.packet(make(rnd, lids), hops)
    print(f"{count} sent, seed {seed}")


main()
