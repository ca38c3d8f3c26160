#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sends RoCEv2 packets that nobody should send, from a seeded stream.

All 256 opcodes x payloads of 0 to 64 and 1024 bytes x pads 0 to 3 x good and
bad ICRC x live, well-known and unknown queue pairs, with PSNs around the one
that is expected, and headers filled with good, odd or random values. The same
seed and count send the same packets. The source address is the one that the
targets believe in, so that the packets pass for their peer's.

Targets come from what vt_victim printed: lines "qp TYPE QPN PSN PEER" and
"mr RKEY ADDRESS LENGTH".
"""

import argparse
import itertools
import random
import socket
import struct
import sys
import zlib

PORT = 4791
LENGTHS = list(range(65)) + [1024]
SERVICE = {"rc": 0, "uc": 1, "ud": 3}


def headers_of(opcode):
    """Extended headers that an opcode calls for, or None for a reserved one."""
    service, op = opcode >> 5, opcode & 31
    if service not in (0, 1, 2, 3):
        return None
    deth = ["deth"] if service == 3 else []
    table = {
        0: [], 1: [], 2: [], 3: ["imm"], 4: [], 5: ["imm"],
        6: ["reth"], 7: [], 8: [], 9: ["imm"], 10: ["reth"], 11: ["reth", "imm"],
        12: ["reth"], 13: ["aeth"], 14: [], 15: ["aeth"], 16: ["aeth"],
        17: ["aeth"], 18: ["aeth", "atomicack"], 19: ["atomic"], 20: ["atomic"],
        22: ["ieth"], 23: ["ieth"],
    }
    if op not in table:
        return None
    return deth + table[op]


class Stream:
    """The packets, one after the other."""

    def __init__(self, args, targets, regions):
        self.rnd = random.Random(args.seed)
        self.targets = targets
        self.regions = regions
        self.source = socket.inet_aton(args.source)
        self.destination = socket.inet_aton(args.destination)
        self.ident = 0

    def value(self, good, bits):
        """Mostly the good value, else an edge or anything."""
        pick = self.rnd.random()
        if pick < 0.6:
            return good & ((1 << bits) - 1)
        if pick < 0.8:
            return self.rnd.choice([0, 1, (1 << bits) - 1, 1 << (bits - 1)])
        return self.rnd.getrandbits(bits)

    def extended(self, name, target, length):
        rkey, address, size = self.rnd.choice(self.regions)
        if name == "deth":
            return struct.pack(">II", self.value(0x11111111, 32),
                               self.value(target["peer"], 24))
        if name == "reth":
            return struct.pack(">QII", self.value(address, 64),
                               self.value(rkey, 32),
                               self.value(min(size, length), 32))
        if name in ("imm", "ieth"):
            return struct.pack(">I", self.rnd.getrandbits(32))
        if name == "aeth":
            return struct.pack(">I", self.rnd.choice(
                [0x1f, 0x00, 0x20, 0x3f, 0x60, 0x61, 0x62, 0x63, 0x7f, 0xff])
                << 24 | self.rnd.getrandbits(24))
        if name == "atomic":
            return struct.pack(">QIQQ", self.value(address & ~7, 64),
                               self.value(rkey, 32), self.rnd.getrandbits(64),
                               self.rnd.getrandbits(64))
        return struct.pack(">Q", self.rnd.getrandbits(64))

    def packet(self, opcode, length, pad, good_icrc, target):
        psn = (target["psn"] + self.rnd.choice([0, 0, 0, 1, -1, 2, 100, -100,
                                                1 << 23])) & 0xffffff
        flags = self.rnd.choice([0, 0, 0x80, 0x40, 0xc0]) | pad << 4
        if self.rnd.random() < 0.05:
            flags |= self.rnd.getrandbits(4)        # transport version
        pkey = self.value(0xffff, 16)
        qpn = target["qpn"]
        bth = struct.pack(">BBHII", opcode, flags, pkey,
                          qpn | self.rnd.choice([0, 0, 0, 0xff]) << 24,
                          psn | self.rnd.choice([0, 0x80]) << 24)
        ext = b""
        names = headers_of(opcode)
        if names is None:
            ext = self.rnd.randbytes(self.rnd.choice([0, 4, 16, 28]))
        else:
            for name in names:
                ext += self.extended(name, target, length)
            if self.rnd.random() < 0.1:             # cut short
                ext = ext[:self.rnd.randrange(len(ext) + 1)]
        return self.frame(bth + ext + self.rnd.randbytes(length + pad),
                          good_icrc)

    def frame(self, body, good_icrc):
        self.ident = self.ident % 65535 + 1
        total = 20 + 8 + len(body) + 4
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, total, self.ident, 0x4000,
                         64, 17, 0, self.source, self.destination)
        udp = struct.pack(">HHHH", 49152 + self.ident % 1024, PORT, total - 20, 0)
        masked = (b"\xff" * 8 + ip[:1] + b"\xff" + ip[2:8] + b"\xff" + ip[9:10] +
                  b"\xff\xff" + ip[12:] + udp[:6] + b"\xff\xff" + body[:4] +
                  b"\xff" + body[5:])
        icrc = zlib.crc32(masked)
        if not good_icrc:
            icrc ^= 1 << self.rnd.randrange(32)
        # short ones too: less than a BTH, less than an ICRC
        data = ip + udp + body + struct.pack("<I", icrc)
        if self.rnd.random() < 0.02:
            cut = self.rnd.randrange(28, len(data))
            data = (data[:2] + struct.pack(">H", cut) + data[4:24] +
                    struct.pack(">H", cut - 20) + data[26:cut])
        return data


def read_targets(path):
    targets, regions = [], []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            word = line.split()
            if word[:1] == ["qp"]:
                targets.append({"service": SERVICE[word[1]],
                                "qpn": int(word[2]), "psn": int(word[3]),
                                "peer": int(word[4])})
            elif word[:1] == ["mr"]:
                regions.append(tuple(int(w) for w in word[1:4]))
    if not targets or not regions:
        sys.exit(f"{path}: no target, no region")
    for qpn in (0, 1, 0xffffff, 0xfffffe, 0x400000):
        targets.append({"service": 3, "qpn": qpn, "psn": 0x100, "peer": 1})
    return targets, regions


def sample(rnd, count, targets):
    """Combinations at random, more of those that a queue pair listens to."""
    known = [op for op in range(256) if headers_of(op) is not None]
    for _ in range(count):
        target = rnd.choice(targets)
        pick = rnd.random()
        if pick < 0.6:
            opcode = rnd.choice([op for op in known
                                 if op >> 5 == target["service"]])
        else:
            opcode = rnd.choice(known) if pick < 0.8 else rnd.randrange(256)
        # a whole middle packet, or any length; the pad that fits, or any
        length = rnd.choice(LENGTHS) if rnd.random() < 0.5 else rnd.choice(
            [0, 4, 64, 1024])
        pad = -length % 4 if rnd.random() < 0.7 else rnd.randrange(4)
        yield opcode, length, pad, rnd.random() < 0.8, target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", required=True, metavar="IP")
    parser.add_argument("--destination", required=True, metavar="IP")
    parser.add_argument("--targets", required=True, metavar="FILE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=0,
                        help="packets of the stream; 0: every combination once")
    args = parser.parse_args()

    stream = Stream(args, *read_targets(args.targets))
    grid = itertools.product(range(256), LENGTHS, range(4), (True, False),
                             stream.targets)
    if args.count:
        grid = sample(random.Random(args.seed + 1), args.count, stream.targets)
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    sent = 0
    for item in grid:
        raw.sendto(stream.packet(*item), (args.destination, 0))
        sent += 1
    print(f"sent {sent} packets, seed {args.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
