# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Counters of a device, and what moves them."""

import os


class Counters:
    """Those of hw_counters whose names begin with one of some prefixes"""

    def __init__(self, device, *prefixes):
        self.dir = f"/sys/class/infiniband/{device}/ports/1/hw_counters/"
        self.names = sorted(n for n in os.listdir(self.dir) if n.startswith(prefixes))
        if not self.names:
            raise FileNotFoundError(f"{device} has no counters {prefixes}")

    def read(self):
        value = {}
        for name in self.names:
            with open(self.dir + name, encoding="ascii") as file:
                value[name] = int(file.read())
        return value


def moved(before, now):
    """By how much each has, those that have"""
    return {k: now[k] - before[k] for k in now if now[k] != before[k]}
