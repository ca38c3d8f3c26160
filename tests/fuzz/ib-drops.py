#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One packet for each check of a native InfiniBand node on receive, and the counter
that it must count under: by one, and no other one moves.

usage: ib-drops.py adapter DEVICE TARGETS PEER-LID SOURCE DESTINATION CABLE
       ib-drops.py down DEVICE SOURCE DESTINATION CABLE
       ib-drops.py cable END SOURCE STRANGER DESTINATION CABLE
       ib-drops.py switch DEVICE SWITCH-LID PORT PEER-LID SOURCE DESTINATION CABLE

All send as the host at the other end of a cable, out of namespace B.  adapter:
DEVICE, whose queue pairs are what vt_targets has printed; down: the same while its
port is not up; cable: the end of the cable that DEVICE has; switch: DEVICE asks the
switch, which has the cable at PORT.  See ib-drops.sh.
"""

import json
import struct
import subprocess
import sys
import time

from counters import Counters, moved
from ibmad import GET, GET_RESP, PERF, PERMISSIVE, Node, Umad, gmp, smp
from ibwire import GSI_QKEY, PORT, UD_SEND_ONLY, Cable, deth, frame, odd_datagrams
from netns import enter

RC_SEND_ONLY, RC_ACK, UD_SEND_ONLY_IMM = 0x04, 0x11, 0x65
# what vt_targets expects
QKEY, PEER, PEER_QPN, PEER_PSN = 0x11111111, 0x020304, 0x123456, 0x000100
GOOD, EVIL = b"good" * 8, b"evil" * 8
DETH = deth(QKEY, PEER_QPN)
GSI_DETH = deth(GSI_QKEY, 1)
NOBODY = 0xBFFF             # a LID that no SM gives away here
NO_GROUP = 0xC123
PREFIX = 0xFE80 << 112
MCAST_QPN = 0xFFFFFF


class Table:
    """Checks one row after the other."""

    def __init__(self, read, cable):
        self.start(read)
        self.cable = cable
        self.passed = self.failed = 0
        self.marks = 0

    def start(self, read):
        self.read = read
        self.last = read()

    def mark(self):
        """Send what tells, once seen(), that all sent before it was dealt with"""

    def seen(self):
        time.sleep(0.03)
        return True

    def row(self, want, what, send):
        before = self.last          # so nothing moves between rows either
        send()
        self.mark()
        tries = 500                 # a host may be slow
        while tries:
            seen = self.seen()
            self.last = self.read()
            now = moved(before, self.last)
            if seen and now == want:
                break
            tries = min(tries - 1, 25) if seen else tries - 1
            time.sleep(0.02)        # counters may be 10 ms old
        if now == want:
            self.passed += 1
        else:
            self.failed += 1
            print(f"{what}: {want} was to move, and what moved is {now}")

    def packet(self, name, what, data):
        """name: the counter, or "" where none is to move"""
        self.row({name: 1} if name else {}, what, lambda: self.cable.packet(data))

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


class Adapter(Table):
    """A packet for a group that has no members is received, and that is all."""

    def __init__(self, device, cable):
        super().__init__(Counters(device, "rx_drop_", "rx_bad_").read, cable)
        self.groups = Counters(device, "rx_multicast_packets")
        self.marks = self.groups.read()["rx_multicast_packets"]

    def mark(self):
        self.marks += 1
        self.cable.packet(frame(0, NO_GROUP, 1, MCAST_QPN, UD_SEND_ONLY, DETH, grh=bytes(32)))

    def seen(self):
        return self.groups.read()["rx_multicast_packets"] == self.marks


def lid_of(device):
    with open(f"/sys/class/infiniband/{device}/ports/1/lid", encoding="ascii") as file:
        return int(file.read(), 16)


def gid_of(device):
    with open(f"/sys/class/infiniband/{device}/ports/1/gids/0", encoding="ascii") as file:
        return bytes.fromhex(file.read().strip().replace(":", ""))


def targets(path):
    with open(path, encoding="ascii") as file:
        words = [line.split() for line in file]
    return {w[1]: int(w[2]) for w in words if w[:1] == ["qp"]}


def adapter(device, path, peer, *ends):
    lid, peer, own = lid_of(device), int(peer), gid_of(device)
    far = (PREFIX | PEER).to_bytes(16, "big")
    local = (PREFIX | int.from_bytes(own[8:], "big")).to_bytes(16, "big")
    qp = targets(path)
    table = Adapter(device, cable_of(*ends))
    psn = {"rc": PEER_PSN, "rcgrh": PEER_PSN}
    pair = far + own

    def case(name, what, data):
        table.packet("rx_drop_" + name if name else "", what, data)

    def to(qpn, opcode, body, vl=0, dlid=lid, slid=peer, **kw):
        return frame(vl, dlid, slid, qpn, opcode, body, **kw)

    def ud(body=EVIL, qpn=qp["ud"], **kw):
        return to(qpn, UD_SEND_ONLY, DETH + body, **kw)

    def rc(body=EVIL, qp_name="rc", **kw):
        return to(qp[qp_name], RC_SEND_ONLY, body, psn=psn.get(qp_name, 0), **kw)

    def mgmt(mad, qpn=0, vl=15, opcode=UD_SEND_ONLY, **kw):
        return to(qpn, opcode, deth(0, 0) + bytes(mad), vl=vl, **kw)

    def gsi(mad, **kw):
        return to(1, UD_SEND_ONLY, kw.pop("head", GSI_DETH) + bytes(mad), **kw)

    bad = "malformed"
    case(bad, "LVer 1", ud(lver=1))
    case(bad, "raw packet", ud(lnh=0))
    case(bad, "raw packet with a GRH", ud(lnh=1))
    case(bad, "PktLen of one word more", ud(words=len(ud()) // 4 + 1))
    case(bad, "PktLen of one word less", ud(words=len(ud()) // 4 - 1))
    case(bad, "cut by four bytes", ud()[:-4])
    case(bad, "four bytes more", ud() + bytes(4))
    case(bad, "not a multiple of four", ud() + bytes(1))
    case(bad, "DLID 0", ud(dlid=0))
    case(bad, "SLID 0", ud(slid=0))
    case(bad, "SLID of a group", ud(slid=0xC001))
    case(bad, "no room for the GRH", to(qp["ud"], UD_SEND_ONLY, b"", lnh=3))
    case(bad, "GRH: IPVer 4", ud(grh=pair, ip=4))
    case(bad, "GRH: NxtHdr of a raw packet", ud(grh=pair, next_hdr=0x11))
    case(bad, "GRH: PayLen of four bytes more", ud(grh=pair, after=12 + 8 + 32 + 8))
    case(bad, "GRH: PayLen 0", ud(grh=pair, after=0))
    case(bad, "TVer 1", ud(tver=1))
    case(bad, "no DETH", to(qp["ud"], UD_SEND_ONLY, b""))
    case(bad, "half a DETH", to(qp["ud"], UD_SEND_ONLY, DETH[:4]))
    case(bad, "more pad than there is", ud(body=b"", pad=3))
    case(bad, "payload that the opcode has not", to(qp["rc"], RC_ACK, b"AETHmore"))

    for code in (0x1F, 0x81, 0xFF):
        case("opcode", f"opcode {code:#x}", to(qp["rc"], code, DETH + EVIL))
    case("opcode", "datagram for a RC QP", ud(qpn=qp["rc"]))
    case("opcode", "RC packet for a UD QP", to(qp["ud"], RC_SEND_ONLY, EVIL))
    case("opcode", "RC packet for QP1", to(1, RC_SEND_ONLY, EVIL))

    for bit in (0, 7, 8, 31):
        case("icrc", f"ICRC, bit {bit}", ud(flip=1 << bit))
    case("icrc", "ICRC, with a GRH", ud(grh=pair, flip=1))
    case("icrc", "ICRC of a SMP", mgmt(smp(GET, 0x11), flip=1))
    case("icrc", "ICRC of a GMP", gsi(gmp(PERF, GET, 1), flip=1))
    case("icrc", "another byte", ud().replace(b"evil", b"live", 1))

    nodeinfo = smp(GET, 0x11)
    case("vl15", "QP0 on VL 0", mgmt(nodeinfo, vl=0))
    case("vl15", "QP1 on VL 15", mgmt(nodeinfo, qpn=1))
    case("vl15", "a UD QP on VL 15", ud(vl=15))
    case("vl15", "SMP of 255 bytes", mgmt(nodeinfo[:255]))
    case("vl15", "SMP of 24 bytes", mgmt(nodeinfo[:24]))
    case("vl15", "SMP of 260 bytes", mgmt(nodeinfo + bytes(4)))
    case("vl15", "SMP with immediate data", mgmt(bytes(4) + nodeinfo, opcode=UD_SEND_ONLY_IMM))
    case("vl15", "RC packet on VL 15", to(0, RC_SEND_ONLY, bytes(256), vl=15))
    case("vl15", "SMP by LID to everybody", mgmt(nodeinfo, dlid=PERMISSIVE))
    case("vl15", "SMP to another LID", mgmt(nodeinfo, dlid=NOBODY))
    case("vl15", "SMP to a group", mgmt(nodeinfo, dlid=NO_GROUP))

    case("address", "another LID", ud(dlid=NOBODY))
    case("address", "everybody's LID on VL 0", ud(dlid=PERMISSIVE))
    case("address", "another GID", ud(grh=far + far))
    case("address", "another GID prefix", ud(grh=far + b"\xfe\xc0" + own[2:]))
    case("address", "group without a GRH", ud(dlid=NO_GROUP, qpn=MCAST_QPN))
    case("address", "group, one QP", ud(dlid=NO_GROUP, grh=pair))
    case("address", "RC, not from the peer's LID", rc(slid=peer ^ 1))
    case("address", "RC, with a GRH", rc(grh=pair))
    case("address", "RC, without a GRH", rc(qp_name="rcgrh"))
    case("address", "RC, not from the peer's GID", rc(qp_name="rcgrh", grh=own + own))

    for number in (2, 0xFFFFFE, MCAST_QPN):
        case("qpn", f"QPN {number:#x}", ud(qpn=number))
    case("qpn", "QP of another device", ud(qpn=qp["elsewhere"]))

    for key in (0x8001, 0x7FFE, 0):
        case("pkey", f"P_Key {key:#x}, UD", ud(pkey=key))
        case("pkey", f"P_Key {key:#x}, RC", rc(pkey=key))
        case("pkey", f"P_Key {key:#x}, QP1", gsi(gmp(PERF, GET, 1), pkey=key))

    case("qkey", "Q_Key, UD", to(qp["ud"], UD_SEND_ONLY, deth(QKEY ^ 1, PEER_QPN) + EVIL))
    case("qkey", "Q_Key, QP1", gsi(gmp(PERF, GET, 1), head=deth(1, 1)))

    for length in (0, 24, 255, 260):
        case("length", f"GMP of {length} bytes", gsi(bytes(gmp(PERF, GET, 1) + bytes(4))[:length]))
    case("length", "no room for it", ud(qpn=qp["small"]))
    case("no_rwqe", "no receive", ud(qpn=qp["dry"]))
    case("state", "QP in INIT", rc(qp_name="init"))
    case("state", "QP in ERR", rc(qp_name="error"))

    fine = Counters(device, "rx_packets")
    received = fine.read()["rx_packets"]
    rows = table.passed + table.failed

    case("", "UD", ud(GOOD))
    case("", "UD with a GRH", ud(GOOD, grh=pair))
    case("", "UD, the default GID prefix", ud(GOOD, grh=far + local))
    case("", "UD, what routers may change", ud(GOOD, grh=pair, tclass=0xB9, hop_limit=0))
    case("", "UD, VL 7 and SL 5", ud(GOOD, vl=7, sl=5))
    case("", "UD, FECN and BECN", ud(GOOD, byte4=0xC0))
    case("", "UD, a limited member", ud(GOOD, pkey=0x7FFF))
    case("", "RC", rc(GOOD))
    psn["rc"] += 1
    case("", "RC, a limited member", rc(GOOD, pkey=0x7FFF))
    case("", "RC with a GRH", rc(GOOD, "rcgrh", grh=pair))
    case("", "SMP by LID", mgmt(smp(GET, 0x11)))
    case("", "SMP along a path", mgmt(smp(GET, 0x11, path=[0, 1], pointer=1), dlid=PERMISSIVE))
    case("", "GMP", gsi(gmp(PERF, GET, 1)))
    # each is received, and so is what tells that it was
    rows = table.passed + table.failed - rows
    table.start(fine.read)
    table.row({"rx_packets": 1}, "rx_packets", lambda: None)
    if fine.read()["rx_packets"] - received != 2 * rows + 1:
        table.failed += 1
        print(f"{rows} good ones: rx_packets has grown by {fine.read()['rx_packets'] - received}")
    return table.end()


def down(device, *ends):
    """Nothing but management while the port is not up"""
    lid = lid_of(device)
    table = Table(Counters(device, "rx_drop_", "rx_packets").read, cable_of(*ends))
    table.packet("rx_drop_state", "data while the port is in INIT",
                 frame(0, lid, 1, 1, UD_SEND_ONLY, GSI_DETH + gmp(PERF, GET, 1)))
    table.packet("rx_drop_state", "data for QP0", frame(0, lid, 1, 0, UD_SEND_ONLY, deth(0, 0) + smp(GET, 0x11)))
    table.packet("rx_packets", "SMP while the port is in INIT",
                 frame(15, PERMISSIVE, PERMISSIVE, 0, UD_SEND_ONLY,
                       deth(0, 0) + smp(GET, 0x11, path=[0, 1], pointer=1)))
    return table.end()


def cable(this_end, source, stranger, destination, number):
    """What comes by UDP and is no packet"""

    def read():
        out = subprocess.run(["ibctl", "-j", "cable", "list"], check=True, capture_output=True).stdout
        one = [c for c in json.loads(out) if c["a"] == this_end]
        return {k: one[0]["counters"][k] for k in ("strangers", "malformed", "rx_lost")}

    good = cable_of(source, destination, number)
    other = Cable(stranger, destination, int(number))
    table = Table(read, good)

    def case(name, what, end=good):
        port = PORT + 1 if what == "port" else PORT
        data = odd_datagrams(what, int(number), NOBODY)[0]
        table.row({name: 1}, what, lambda: end.datagram(data, port))

    for what in ("version", "kind", "flags", "short", "long", "hops0", "hops65", "hello", "hellolen"):
        case("malformed", what)
    for what in ("none", "id", "port"):
        case("strangers", what)
    for what in ("version", "hello", "hops63"):
        case("strangers", what, other)
    return table.end()


class Switch(Table):
    """What is forwarded to the asking device and has no QP there is counted there."""

    ERRORS = {"PortRcvErrors": 8, "PortRcvSwitchRelayErrors": 12, "PortXmitDiscards": 14, "VL15Dropped": 22}
    KEYS = {"M_KeyViolations": 44, "P_KeyViolations": 46, "Q_KeyViolations": 48}

    def __init__(self, device, lid, ports, cable_end):
        self.umad = Umad(device)
        self.node = Node(f"lid:{lid}")
        self.ports = ports
        self.lid = lid_of(device)
        super().__init__(self.ask, cable_end)
        self.drops = Counters(device, "rx_drop_qpn")
        self.marks = self.drops.read()["rx_drop_qpn"]

    def mark(self):
        self.marks += 1
        self.cable.packet(frame(0, self.lid, 1, 2, UD_SEND_ONLY, DETH + EVIL))

    def seen(self):
        return self.drops.read()["rx_drop_qpn"] == self.marks

    def ask(self):
        """Error counters of all ports, and violations, which the node counts"""
        value = {}
        for port in range(self.ports + 1):
            data = self.data(gmp(PERF, GET, 0x12, 0, bytes([0, port])))
            for name, at in self.ERRORS.items():
                value[f"{name} of port {port}"] = int.from_bytes(data[at:at + 2], "big")
        data = self.data(self.node.smp(GET, 0x15, 0))
        for name, at in self.KEYS.items():
            value[name] = int.from_bytes(data[at:at + 2], "big")
        return value

    def data(self, mad):
        data = self.umad.ask(self.node, mad)
        if data is None:
            sys.exit("the switch does not answer")
        return data


def switch(device, lid, port, peer, *ends):
    lid, port, peer = int(lid), int(port), int(peer)
    table = Switch(device, lid, 4, cable_of(*ends))

    def case(name, what, data):
        if name and not name.endswith("Violations"):
            name = f"{name} of port {port}"
        table.packet(name, what, data)

    def ud(dlid, qpn=2, vl=0, **kw):
        return frame(vl, dlid, peer, qpn, UD_SEND_ONLY, DETH + EVIL, **kw)

    def mgmt(mad, dlid=lid, qpn=0, vl=15, opcode=UD_SEND_ONLY, **kw):
        return frame(vl, dlid, peer, qpn, opcode, deth(0, 0) + bytes(mad), **kw)

    def directed(mad, **kw):
        return mgmt(mad, dlid=PERMISSIVE, **kw)

    def gsi(mad, **kw):
        return frame(0, lid, peer, 1, UD_SEND_ONLY, kw.pop("head", GSI_DETH) + bytes(mad), **kw)

    there = table.lid
    case("PortRcvErrors", "LVer 1", ud(there, lver=1))
    case("PortRcvErrors", "raw packet", ud(there, lnh=0))
    case("PortRcvErrors", "PktLen of one word more", ud(there, words=len(ud(there)) // 4 + 1))
    case("PortRcvErrors", "cut by four bytes", ud(there)[:-4])
    case("PortRcvErrors", "four bytes more", ud(there) + bytes(4))
    case("PortRcvErrors", "DLID 0", ud(0))
    case("PortRcvErrors", "SMP, LVer 1", mgmt(smp(GET, 0x11), lver=1))

    ping = gmp(0x32, GET, 0)    # ibping's class
    case("PortRcvErrors", "for it, ICRC", gsi(gmp(PERF, GET, 1), flip=1))
    case("PortRcvErrors", "for it, GMP of 24 bytes", gsi(gmp(PERF, GET, 1)[:24]))
    case("PortRcvErrors", "for it, a QP that it has not", ud(lid, qpn=17))
    case("PortRcvErrors", "for it, QP0 on VL 0", mgmt(smp(GET, 0x11), vl=0))
    case("PortRcvErrors", "for it, RC packet", frame(0, lid, peer, 1, RC_SEND_ONLY, EVIL))
    case("PortRcvErrors", "for it, opcode 0x1f", frame(0, lid, peer, 1, 0x1F, GSI_DETH + EVIL))
    case("PortRcvErrors", "for it, TVer 1", gsi(gmp(PERF, GET, 1), tver=1))

    case("PortRcvSwitchRelayErrors", "nobody's LID", ud(NOBODY))
    case("PortRcvSwitchRelayErrors", "back to where it came from", ud(peer))
    case("PortRcvSwitchRelayErrors", "everybody's LID on VL 0", ud(PERMISSIVE))
    case("PortRcvSwitchRelayErrors", "group without members", ud(NO_GROUP))
    case("PortRcvSwitchRelayErrors", "group beyond the table", ud(0xFFFE))
    case("PortRcvSwitchRelayErrors", "SMP to nobody's LID", mgmt(smp(GET, 0x11), dlid=NOBODY))

    dropped = "VL15Dropped"
    info = smp(GET, 0x11)
    case(dropped, "ICRC of a SMP", mgmt(info, flip=1))
    case(dropped, "ICRC of a directed one", directed(smp(GET, 0x11, path=[0, 1], pointer=1), flip=1))
    case(dropped, "SMP of 255 bytes", mgmt(info[:255]))
    case(dropped, "SMP of 260 bytes", mgmt(info + bytes(4)))
    case(dropped, "SMP with immediate data", mgmt(bytes(4) + info, opcode=UD_SEND_ONLY_IMM))
    case(dropped, "QP1 on VL 15", mgmt(info, qpn=1))
    case(dropped, "RC packet on VL 15", mgmt(info, opcode=RC_SEND_ONLY))
    case(dropped, "VL 15 to a group", mgmt(info, dlid=NO_GROUP))
    case(dropped, "SMP by LID to everybody", directed(info))
    case(dropped, "another class", mgmt(gmp(0x07, GET, 1)))
    case(dropped, "answer to nobody", mgmt(smp(GET_RESP, 0x11)))
    case(dropped, "Send, which nobody knows", mgmt(smp(0x03, 0x11)))
    case(dropped, "hop pointer 0", directed(smp(GET, 0x11, path=[0, 1], pointer=0)))
    case(dropped, "hop pointer beyond the path", directed(smp(GET, 0x11, path=[0, 1], pointer=2)))
    case(dropped, "hop pointer 255", directed(smp(GET, 0x11, path=[0, 1], pointer=255)))
    case(dropped, "path of 64 hops", directed(smp(GET, 0x11, path=[0] + 64 * [1], pointer=1)))
    case(dropped, "on by port 0", directed(smp(GET, 0x11, path=[0, 1, 0], pointer=1)))
    case(dropped, "on by a port that there is not", directed(smp(GET, 0x11, path=[0, 1, 5], pointer=1)))
    case(dropped, "on by LID of a group", directed(smp(GET, 0x11, path=[0, 1], pointer=1, ends=(PERMISSIVE, 0xC001))))
    case(dropped, "back to nobody", directed(smp(GET_RESP, 0x11, path=[0, 1], pointer=1, status=0x8000)))
    case(dropped, "back, hop pointer 0", directed(smp(GET_RESP, 0x11, path=[0, 1], pointer=0, status=0x8000)))
    case(dropped, "back, beyond the path", directed(smp(GET_RESP, 0x11, path=[0, 1], pointer=2, status=0x8000)))

    # It is counted where it would have left.
    table.packet("PortXmitDiscards of port 4", "on by a port without a cable",
                 directed(smp(GET, 0x11, path=[0, 1, 4], pointer=1)))

    case("P_KeyViolations", "P_Key, QP1", gsi(gmp(PERF, GET, 1), pkey=0x8001))
    case("Q_KeyViolations", "Q_Key, QP1", gsi(gmp(PERF, GET, 1), head=deth(1, 1)))

    case("", "GMP to an adapter", frame(0, there, peer, 1, UD_SEND_ONLY, GSI_DETH + gmp(PERF, GET, 1)))
    case("", "SMP by LID", mgmt(info))
    case("", "SMP along a path", directed(smp(GET, 0x11, path=[0, 1], pointer=1)))
    case("", "GMP", gsi(gmp(PERF, GET, 1)))
    # Who asks for what a switch has not finds no error of the link.
    case("", "GMP of another class", gsi(ping))
    case("", "performance, answer to nobody", gsi(gmp(PERF, GET_RESP, 1)))
    return table.end()


def cable_of(source, destination, number):
    enter("B")
    return Cable(source, destination, int(number))


if __name__ == "__main__":
    sys.exit({"adapter": adapter, "down": down, "cable": cable, "switch": switch}[sys.argv[1]](*sys.argv[2:]))
