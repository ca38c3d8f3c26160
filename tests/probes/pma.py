# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Ask a port's performance agent over RoCE, as perfquery cannot: by GID.

	pma.py UMAD GID-INDEX GID	PortCountersExtended of that port
	pma.py UMAD lid LID		the same by LID, without a GRH

Prints four lines, NAME VALUE; ends with the name of the error if the kernel
refuses the MAD. UMAD is a file /dev/infiniband/umadN.
"""
import errno
import fcntl
import ipaddress
import os
import struct
import sys

REGISTER_AGENT2 = 0xC0281B04  # rdma/ib_user_mad.h
PERF, GET, COUNTERS_EXTENDED = 4, 1, 0x1D  # IBA 16.1
GSI_QKEY = 0x80010000
NAMES = ("port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets")

fd = os.open(sys.argv[1], os.O_RDWR)
# id, QPN 1, class, version, flags, no methods of requests, OUI, no RMPP
agent = struct.pack("=IIBBHI16xIB3x", 0, 1, PERF, 1, 0, 0, 0, 0)
agent = struct.unpack_from("=I", fcntl.ioctl(fd, REGISTER_AGENT2, agent))[0]

if sys.argv[2] == "lid":
    lid, grh, index, gid = int(sys.argv[3]), 0, 0, bytes(16)
else:
    lid, grh, index, gid = 0, 1, int(sys.argv[2]), ipaddress.ip_address(sys.argv[3]).packed
# struct ib_user_mad_hdr: id, status, ms, retries, length; QPN, Q_Key, LID; SL, path bits;
# GRH present, GID index, hop limit, traffic class, GID, flow label; P_Key index
head = struct.pack("=5I", agent, 0, 1000, 3, 0) + struct.pack(">IIH", 1, GSI_QKEY, lid)
head += struct.pack("=6B16s", 0, 0, grh, index, 64, 0, gid) + struct.pack("=IH6x", 0, 0)
mad = struct.pack(">BBBBHHQHHI", 1, PERF, 1, GET, 0, 0, 1, COUNTERS_EXTENDED, 0, 0)
mad = (mad + bytes(40) + struct.pack(">BB", 0, 1)).ljust(256, b"\0")
try:
    os.write(fd, head + mad)
except OSError as e:
    sys.exit(errno.errorcode[e.errno])
answer = os.read(fd, 64 + 256)
status = struct.unpack_from("=I", answer, 4)[0]
if status:
    sys.exit(errno.errorcode[status])
# behind the header of the answer, the common one and the reserved part of the MAD
for name, value in zip(NAMES, struct.unpack_from(">4Q", answer, 64 + 64 + 8)):
    print(name, value)
