# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Management datagrams, and a port to exchange them by (libibumad)."""

import ctypes
import struct
import sys

GET, SET, TRAP_REPRESS, GET_RESP = 0x01, 0x02, 0x07, 0x81
SMP_DR, SMP_LID, PERF = 0x81, 0x01, 0x04
# IBA 14.2.1.2: a directed-route SMP whose route has no part by LID
PERMISSIVE = 0xFFFF


def smp(method, attr, mod=0, data=b"", path=None, pointer=0, status=0, ends=(PERMISSIVE, PERMISSIVE)):
    """One by LID, or along @path, which is [0, PORT...]; ends: DrSLID and DrDLID"""
    mad = bytearray(256)
    mad[0:4] = bytes([1, SMP_DR if path else SMP_LID, 1, method])
    struct.pack_into(">HHI", mad, 16, attr, 0, mod)
    if path:
        struct.pack_into(">HBB", mad, 4, status, pointer, len(path) - 1)
        struct.pack_into(">HH", mad, 32, *ends)
        mad[128:128 + len(path)] = bytes(path)
    mad[64:64 + len(data)] = data
    return mad


def gmp(mgmt_class, method, attr, mod=0, data=b""):
    mad = bytearray(256)
    mad[0:4] = bytes([1, mgmt_class, 1, method])
    struct.pack_into(">HHI", mad, 16, attr, 0, mod)
    mad[64:64 + len(data)] = data
    return mad


class Umad:
    """A port's management datagrams, by libibumad."""

    def __init__(self, device):
        self.lib = ctypes.CDLL("libibumad.so.3", use_errno=True)
        self.lib.umad_init()
        self.fd = self.lib.umad_open_port(device.encode(), 1)
        if self.fd < 0:
            sys.exit(f"cannot open {device}")
        self.agents = {c: self.lib.umad_register(self.fd, c, 1, 0, None) for c in (SMP_DR, SMP_LID, PERF)}
        if min(self.agents.values()) < 0:
            sys.exit("cannot register agents")
        self.size = self.lib.umad_size()
        self.tid = 0

    def send(self, mad, lid, timeout):
        """With a transaction ID of its own. It, or its answer, comes back within
        @timeout ms."""
        buf = ctypes.create_string_buffer(self.size + 256)
        perf = mad[1] == PERF
        self.tid += 1
        mad[12:16] = struct.pack(">I", self.tid)  # the upper half is the kernel's
        self.lib.umad_set_addr(buf, lid, int(perf), 0, 0x80010000 if perf else 0)
        ctypes.memmove(ctypes.addressof(buf) + self.size, bytes(mad), 256)
        return self.lib.umad_send(self.fd, self.agents[mad[1]], buf, 256, timeout, 0)

    def recv(self, timeout):
        """The next MAD and its status, or None."""
        buf = ctypes.create_string_buffer(self.size + 256)
        length = ctypes.c_int(256)
        if self.lib.umad_recv(self.fd, buf, ctypes.byref(length), timeout) < 0:
            return None
        return buf.raw[self.size:], self.lib.umad_status(buf)

    def exchange(self, node, mad, timeout=300):
        """Send it to a node. Return: the answer, or None."""
        while self.recv(0):
            pass
        if self.send(mad, node.lid, timeout) < 0:
            sys.exit(f"{node.name}: the kernel does not send a datagram of method {mad[3]:#x}")
        while True:
            got = self.recv(timeout + 1000)
            if not got or got[1]:
                return None
            if got[0][12:16] == mad[12:16] and got[0][3] == GET_RESP:
                return got[0]

    def ask(self, node, mad):
        """The data of the answer to a good question, or None."""
        answer = self.exchange(node, mad)
        if not answer:
            return None
        return answer[64:256] if mad[1] == PERF else answer[64:128]


class Node:
    """Who a MAD is for: by its directed route ("0", "0,1,2") or LID ("lid:5")"""

    def __init__(self, name):
        self.name = name
        self.path = None
        self.lid = PERMISSIVE
        if name.startswith("lid:"):
            self.lid = int(name[4:])
        else:
            self.path = [int(n) for n in name.split(",")]

    def smp(self, method, attr, mod, data=b""):
        return smp(method, attr, mod, data, self.path)
