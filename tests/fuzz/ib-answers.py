#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One question of each kind to the agents of native InfiniBand nodes, and the status
that must come back (IBA 13.4.7), or no answer at all.

usage: ib-answers.py DEVICE KIND:PATH... KIND:lid:LID...

DEVICE asks.  KIND: own, an adapter that is asked within its host (PATH 0); ca, one
that is asked by a cable; sw, a switch of four ports.  None has an M_Key or a subnet
manager.
"""

import sys

from ibmad import GET, PERF, SET, TRAP_REPRESS, Node, Umad, gmp

OK, BAD_VERSION, BAD_ATTR, BAD_VALUE, NONE = 0, 0x04, 0x0C, 0x1C, None
SEND, REPORT = 0x03, 0x06

# method, attribute, modifier, status of an adapter, of a switch
SMPS = [
    (GET, 0x10, 0, OK, OK), (SET, 0x10, 0, BAD_ATTR, BAD_ATTR),
    (GET, 0x11, 0, OK, OK), (SET, 0x11, 0, BAD_ATTR, BAD_ATTR),
    (GET, 0x12, 0, BAD_ATTR, OK), (SET, 0x12, 1, BAD_ATTR, BAD_VALUE),
    (GET, 0x14, 0, OK, OK), (GET, 0x14, 1, BAD_VALUE, BAD_VALUE),
    (GET, 0x15, 0, OK, OK), (GET, 0x15, 1, OK, OK), (GET, 0x15, 2, BAD_VALUE, OK),
    (GET, 0x15, 5, BAD_VALUE, BAD_VALUE), (GET, 0x15, 0x101, BAD_VALUE, BAD_VALUE),
    (SET, 0x15, 0, BAD_VALUE, BAD_VALUE),
    (GET, 0x16, 0, OK, OK), (GET, 0x16, 1, BAD_VALUE, BAD_VALUE),
    (GET, 0x16, 0x10000, OK, BAD_VALUE), (GET, 0x16, 0x20000, BAD_VALUE, BAD_VALUE),
    (GET, 0x17, 0, OK, OK), (GET, 0x17, 0x0004, OK, OK), (GET, 0x17, 0x0005, OK, BAD_VALUE),
    (GET, 0x17, 0x0501, OK, BAD_VALUE), (GET, 0x17, 0x10000, OK, BAD_VALUE),
    (GET, 0x18, 0, BAD_VALUE, BAD_VALUE), (GET, 0x18, 0x10001, OK, OK),
    (GET, 0x18, 0x20001, BAD_VALUE, BAD_VALUE), (GET, 0x18, 0x30001, OK, OK),
    (GET, 0x18, 0x10005, OK, BAD_VALUE), (GET, 0x18, 0x50001, BAD_VALUE, BAD_VALUE),
    (GET, 0x19, 0, BAD_ATTR, OK), (GET, 0x19, 767, BAD_ATTR, OK), (GET, 0x19, 768, BAD_ATTR, BAD_VALUE),
    (SET, 0x19, 0xFFFFFFFF, BAD_ATTR, BAD_VALUE),
    (GET, 0x1A, 0, BAD_ATTR, BAD_ATTR),
    (GET, 0x1B, 0, BAD_ATTR, OK), (GET, 0x1B, 31, BAD_ATTR, OK), (GET, 0x1B, 32, BAD_ATTR, BAD_VALUE),
    (GET, 0x1B, 0x200, BAD_ATTR, BAD_VALUE), (GET, 0x1B, 0x10000000, BAD_ATTR, BAD_VALUE),
    (GET, 0x02, 0, BAD_ATTR, BAD_ATTR), (GET, 0x20, 0, BAD_ATTR, BAD_ATTR),
    (GET, 0x30, 0, BAD_ATTR, BAD_ATTR), (GET, 0x31, 0, BAD_ATTR, BAD_ATTR),
    (GET, 0x00, 0, BAD_ATTR, BAD_ATTR), (GET, 0xFFFF, 0, BAD_ATTR, BAD_ATTR),
    (SEND, 0x11, 0, NONE, NONE), (REPORT, 0x11, 0, NONE, NONE), (TRAP_REPRESS, 0x02, 0, NONE, NONE),
]
# the same with PortSelect in place of the modifier
GMPS = [
    (GET, 0x01, 0, OK, OK), (SET, 0x01, 0, BAD_ATTR, BAD_ATTR),
    (GET, 0x12, 0, BAD_VALUE, OK), (GET, 0x12, 1, OK, OK), (GET, 0x12, 2, BAD_VALUE, OK),
    (GET, 0x12, 5, BAD_VALUE, BAD_VALUE), (GET, 0x12, 254, BAD_VALUE, BAD_VALUE),
    (GET, 0x12, 255, BAD_VALUE, OK), (SET, 0x12, 5, BAD_VALUE, BAD_VALUE),
    (GET, 0x1D, 1, OK, OK), (GET, 0x1D, 4, BAD_VALUE, OK), (GET, 0x1D, 5, BAD_VALUE, BAD_VALUE),
    (GET, 0x1D, 255, BAD_VALUE, OK),
    (GET, 0x13, 1, BAD_ATTR, BAD_ATTR), (GET, 0x15, 1, BAD_ATTR, BAD_ATTR),
    (GET, 0x35, 1, BAD_ATTR, BAD_ATTR), (GET, 0xFF00, 1, BAD_ATTR, BAD_ATTR),
    (SEND, 0x12, 1, NONE, NONE), (TRAP_REPRESS, 0x02, 0, NONE, NONE),
]
failed = asked = 0


def expect(umad, node, want, what, mad):
    global failed, asked
    asked += 1
    # A slow host's answer is waited for; that there is none shows soon enough.
    answer = umad.exchange(node, mad, 200 if want is NONE else 5000)
    # Of a directed-route SMP the highest bit is its direction.
    got = int.from_bytes(answer[4:6], "big") & 0x7FFF if answer else NONE
    if got != want:
        failed += 1
        name = ["no answer" if s is NONE else f"status {s:#x}" for s in (want, got)]
        print(f"{node.name}: {what}: {name[0]} was to come back, not {name[1]}")


def questions(umad, node, kind):
    sw = kind == "sw"
    for method, attr, mod, *status in SMPS:
        expect(umad, node, status[sw], f"SMP, method {method:#x}, attribute {attr:#x}, modifier {mod:#x}",
               node.smp(method, attr, mod))
    mad = node.smp(GET, 0x11, 0)
    mad[2] = 2
    expect(umad, node, BAD_VERSION, "SMP of another class version", mad)
    # ib_core drops what comes by a cable, be it the question or a switch's answer.
    mad = node.smp(GET, 0x11, 0)
    mad[0] = 2
    expect(umad, node, BAD_VERSION if kind == "own" else NONE, "SMP of another base version", mad)
    if node.path:
        return
    for method, attr, port, *status in GMPS:
        expect(umad, node, status[sw], f"performance, method {method:#x}, attribute {attr:#x}, port {port}",
               gmp(PERF, method, attr, 0, bytes([0, port])))
    mad = gmp(PERF, GET, 0x12, 0, bytes([0, 1]))
    mad[2] = 2
    expect(umad, node, BAD_VERSION, "performance of another class version", mad)


def main():
    umad = Umad(sys.argv[1])
    for arg in sys.argv[2:]:
        kind, name = arg.split(":", 1)
        questions(umad, Node(name), kind)
    print(f"{asked} asked, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
