#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Management datagrams that nobody should send, through /dev/infiniband/umad.

usage: ib-mads.py fuzz DEVICE COUNT SEED PATH... [lid:LID...]
       ib-mads.py lft DEVICE PATH LID PORT
       ib-mads.py mft DEVICE PATH MLID PORTS

fuzz: COUNT of them, from a seeded stream, to nodes named by their directed route
(0, 0,1 or 0,1,2 as infiniband-diags has it) or LID: every attribute of subnet and
performance management with every method, modifiers at their edges, and data that are
random, all ones, or what the node says of itself with some bytes changed. Ends
with 1 if the kernel refuses to send too many of them (those with hop pointers that
it does not like), if a node answers few of them, or none with success or none with
an error, or if it gives no answer to a good question afterwards that it answered
before. None is told to keep quiet (by a M_Key, a port that is disabled).

lft, mft: set one entry of a switch's forwarding tables, without asking a SM.
"""

import random
import struct
import sys

from ibmad import GET, GET_RESP, PERF, PERMISSIVE, SET, Node, Umad, gmp

SMP_ATTRS = [0x02, 0x10, 0x11, 0x12, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x20, 0x30, 0x31]
PERF_ATTRS = [0x01, 0x12, 0x15, 0x1D, 0x16, 0x36, 0xFF00]
METHODS = [GET, GET, GET, SET, SET, SET, 0x03, 0x05, 0x06, 0x07, GET_RESP, 0x86]
EDGES = [0, 1, 2, 3, 4, 0x1F, 0x20, 0x1FF, 0x2FF, 0x300, 0xFFFF, 0x10000, 0x10001, 0x30001, 0x1FFFFFFF,
         0x10000000, 0x40000000, 0x80000000, 0x80000001, 0xF0000000, 0xFFFFFFFF]


def modifier(rnd):
    return rnd.choice(EDGES) if rnd.random() < 0.8 else rnd.getrandbits(32)


def contents(rnd, length, said):
    kind = rnd.random()
    if kind < 0.2:
        return bytes(length)
    if kind < 0.4:
        return b"\xff" * length
    if kind < 0.6 or not said:
        return rnd.randbytes(length)
    data = bytearray(said[:length].ljust(length, b"\0"))
    for _ in range(rnd.randrange(1, 5)):
        data[rnd.randrange(length)] = rnd.choice([0, 1, 0x7F, 0x80, 0xFF, rnd.randrange(256)])
    return bytes(data)


def odd_smp(rnd, node, said):
    attr = rnd.choice(SMP_ATTRS) if rnd.random() < 0.95 else rnd.randrange(65536)
    method = rnd.choice(METHODS) if rnd.random() < 0.95 else rnd.randrange(256)
    data = bytearray(contents(rnd, 64, said.get(attr)))
    if method == SET and attr == 0x15:
        # Not to be locked out, nor to lock: no M_Key, no port disabled or bounced.
        data[0:8] = bytes(8)
        data[33] &= 0x0F
        if data[32] & 0x0F == 1:
            data[32] &= 0xF0
    mad = node.smp(method, attr, modifier(rnd), data)
    if rnd.random() < 0.1:
        mad[rnd.choice([0, 2, 4, 5])] = rnd.randrange(256)
    if rnd.random() < 0.1:
        mad[24:32] = rnd.randbytes(8)
    if node.path:
        if rnd.random() < 0.1:  # a way on that there is not
            mad[7] = rnd.choice([len(node.path), 2, 3, 62, 63, 64, 255])
            mad[128 + len(node.path):192] = bytes(rnd.randrange(256) for _ in range(64 - len(node.path)))
        if rnd.random() < 0.05:
            mad[6] = rnd.choice([1, 2, 63, 64, 255])
        if rnd.random() < 0.05:
            struct.pack_into(">HH", mad, 32, *(rnd.choice([0, 1, 2, 0xC000, PERMISSIVE]) for _ in range(2)))
        if rnd.random() < 0.05:
            mad[192:256] = rnd.randbytes(64)
    return mad


def odd_perf(rnd):
    attr = rnd.choice(PERF_ATTRS) if rnd.random() < 0.95 else rnd.randrange(65536)
    method = rnd.choice(METHODS) if rnd.random() < 0.95 else rnd.randrange(256)
    data = bytearray(contents(rnd, 192, None))
    data[1] = rnd.choice([0, 1, 2, 5, 63, 64, 255])  # PortSelect
    mad = gmp(PERF, method, attr, modifier(rnd), data)
    if rnd.random() < 0.1:
        mad[rnd.choice([0, 2, 4, 5])] = rnd.randrange(256)
    return mad


class Tally:
    """What became of the datagrams to a node"""

    def __init__(self):
        self.sent = self.refused = self.good = self.bad = 0

    def __str__(self):
        return (f"{self.sent} sent, {self.refused} refused by the kernel, "
                f"{self.good} answered, {self.bad} answered with an error")

    def fair(self, by_lid):
        """The rest are of methods and versions that get no answer, or go astray; and LIDs
        are among what is changed."""
        return (self.sent > 5 * self.refused and self.good and self.bad and
                (by_lid or 4 * (self.good + self.bad) > self.sent))


def count_answers(umad, to, timeout):
    """Until none comes for @timeout ms; @to: tallies by transaction ID"""
    while True:
        got = umad.recv(timeout)
        if not got:
            return
        mad, status = got
        tid = int.from_bytes(mad[12:16], "big")
        if status or mad[3] != GET_RESP or tid not in to:
            continue    # nobody answered, or it was asked for before
        # The direction of a directed-route SMP is no status.
        if int.from_bytes(mad[4:6], "big") & 0x7FFF:
            to[tid].bad += 1
        else:
            to[tid].good += 1


def fuzz(umad, count, seed, nodes):
    rnd = random.Random(seed)
    said = {}
    for node in nodes:
        said[node] = {a: umad.ask(node, node.smp(GET, a, 0)) for a in SMP_ATTRS}
        if not said[node][0x11]:
            sys.exit(f"{node.name} does not answer")
    tallies = {node: Tally() for node in nodes}
    to = {}
    for i in range(count):
        node = rnd.choice(nodes)
        if node.path or rnd.random() < 0.6:
            mad = odd_smp(rnd, node, said[node])
        else:
            mad = odd_perf(rnd)
        if umad.send(mad, node.lid, 100) < 0:
            tallies[node].refused += 1
        else:
            tallies[node].sent += 1
            to[umad.tid] = tallies[node]
        if i % 64 == 63:
            count_answers(umad, to, 0)
    count_answers(umad, to, 1000)
    for node, tally in tallies.items():
        print(f"{node.name}: {tally}, seed {seed}")
    unfair = [node.name for node in nodes if not tallies[node].fair(not node.path)]
    if unfair:
        sys.exit(f"that was no test of {unfair}")
    # By its route: LIDs may have changed.
    for node in nodes:
        if node.path and not umad.ask(node, node.smp(GET, 0x11, 0)):
            sys.exit(f"{node.name} does not answer any more")


def set_entry(umad, node, attr, block, index, width, value):
    data = umad.ask(node, node.smp(GET, attr, block))
    if data is None:
        sys.exit(f"{node.name} does not answer")
    data = bytearray(data)
    data[index * width:(index + 1) * width] = value.to_bytes(width, "big")
    if umad.ask(node, node.smp(SET, attr, block, data)) != bytes(data):
        sys.exit(f"{node.name} does not take it")


def raise_top(umad, node, lid):
    """LinearFDBTop of SwitchInfo: what lies above it is not forwarded."""
    info = umad.ask(node, node.smp(GET, 0x12, 0))
    if info is None:
        sys.exit(f"{node.name} does not answer")
    if int.from_bytes(info[6:8], "big") >= lid:
        return
    info = bytearray(info)
    info[6:8] = lid.to_bytes(2, "big")
    answer = umad.ask(node, node.smp(SET, 0x12, 0, info))
    if answer is None or answer[6:8] != info[6:8]:
        sys.exit(f"{node.name} does not take it")


def main(args):
    what, umad = args[0], Umad(args[1])
    if what == "fuzz":
        fuzz(umad, int(args[2]), int(args[3]), [Node(a) for a in args[4:]])
    elif what == "lft":
        lid = int(args[3])
        raise_top(umad, Node(args[2]), lid)
        set_entry(umad, Node(args[2]), 0x19, lid // 64, lid % 64, 1, int(args[4]))
    elif what == "mft":
        lid = int(args[3], 0) - 0xC000
        set_entry(umad, Node(args[2]), 0x1B, lid // 32, lid % 32, 2, int(args[4], 0))
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
