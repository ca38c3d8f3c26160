# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Network namespaces, for programs that want sysfs of one and sockets of another."""

import ctypes
import os


def enter(netns):
    """Sockets are made there from now on; sysfs stays that of here"""
    fd = os.open(f"/run/netns/{netns}", os.O_RDONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, 0x40000000):      # CLONE_NEWNET
        raise OSError(ctypes.get_errno(), f"setns {netns}")
    os.close(fd)
