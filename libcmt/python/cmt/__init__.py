# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Cache occupancy and memory bandwidth, per container, from the cmt kernel module.

A reading goes one way:

    Device -> Reader -> Slots -> Containers

The device opens /dev/cmt and asks it questions; the reader maps its rings and
gives all CPUs' records back in one order of time; the slots fold records into
windows of equal length and know who an RMID belonged to; the containers turn a
cgroup id into a name.  What each container holds, every 10 ms:

    with (cmt.Device() as device, cmt.Reader(device) as reader,
          cmt.Slots(device, slot_ns=10_000_000) as slots,
          cmt.Containers() as containers):
        for slot in slots.follow(reader):
            for entry in slot.entries:
                if entry.owner and entry.occupancy_bytes is not None:
                    name = containers.lookup(entry.owner.cgroup_id).name
                    print(name, entry.occupancy_bytes, entry.emulated)

Rules that hold everywhere:

- Times are nanoseconds of CLOCK_MONOTONIC (time.monotonic_ns()), sizes are bytes.
- A value that was not measured is None, never 0.  A value with the flag
  EMULATED comes from a model, and nothing was measured.
- A call that fails raises Error, an OSError with errno and a text; a wrong
  argument that no call of the library sees, ValueError or OverflowError.
- Device, Reader, Slots and Containers hold something of the library's: they are
  context managers, close() may be called twice, and any other call after it is a
  ValueError.  One thread at a time uses such an object, with the device and the
  reader that it uses.  All else is plain data of its own, that stays valid.

libcmt(3) and cmt(4) say more.
"""
from ._libcmt import ffi as _ffi
from ._libcmt import lib as _lib
from .containers import Container, Containers, container_name
from .device import Attached, Device, Info, Snapshot, Stats
from .errors import Error, PatternError
from .reader import Counts, Lifecycle, Lost, Reader, Record, Sample, Tick
from .slots import Entry, Slot, SlotCounts, SlotCpu, Slots
from .types import Backend, Flag, Owner, OwnerKind, RecordType, Scope, Vendor

#: The version of libcmt that is in use, such as "0.1.0".
__version__: str = _ffi.string(_lib.cmt_version()).decode()

__all__ = [
    "Attached", "Backend", "Container", "Containers", "Counts", "Device",
    "Entry", "Error", "Flag", "Info", "Lifecycle", "Lost", "Owner", "OwnerKind",
    "PatternError", "Reader", "Record", "RecordType", "Sample", "Scope", "Slot",
    "SlotCounts", "SlotCpu", "Slots", "Snapshot", "Stats", "Tick", "Vendor",
    "container_name",
]
