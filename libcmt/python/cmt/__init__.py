# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Cache occupancy and memory bandwidth, per container, from the cmt kernel module.

What each container holds and moves, ten times a second:

    with cmt.Device() as device, cmt.Usage(device) as usage:
        for frame in usage:
            for row in frame.rows:
                print(row.container and row.container.name,
                      row.occupancy.last_bytes, row.total.rate, row.why)

The device opens /dev/cmt and asks it questions; the usage reads its records and
makes frames of them, one for each interval, with rows by container, process, CPU
or L3 domain.  frame.columns has the same rows as columns, for NumPy and others.

Below that are the readings themselves, every millisecond, by column:

    with (cmt.Device() as device, cmt.Reader(device) as reader,
          cmt.Slots(device) as slots):
        for slot in slots.follow(reader):
            held = numpy.asarray(slot.entries.occupancy_bytes)
            print(slot.start_ns, held[held >= 0].sum())

and the records, one by one: for record in reader.

Where the module is not loaded, cmt.Resctrl() in place of cmt.Device() has the groups
of resctrl.

Who makes whom slower, by how much, and since when:

    with cmt.Device() as device, cmt.Slowdowns(device) as slowdowns:
        for incident in slowdowns:
            print(incident.victim.container and incident.victim.container.name,
                  incident.goes_on, incident.share, incident.lost_ns,
                  [part.suspect for part in incident.parts])

What cmtstat record has kept gives the frames that there were:

    with cmt.Recording("night.cmt") as recording, cmt.Usage(recording) as usage:
        for frame in usage:
            ...

Rules that hold everywhere:

- Times are nanoseconds of CLOCK_MONOTONIC (time.monotonic_ns()), sizes are bytes.
- A value that was not measured is None, never 0; in a column -1, or NaN.  A value
  with the flag EMULATED comes from a model, and nothing was measured.
- A call that fails raises Error, an OSError with errno and a text; a wrong
  argument that no call of the library sees, ValueError or OverflowError.
- Device, Recording, Usage, Slowdowns, Reader, Slots and Containers hold something of the library's:
  they are context managers, close() may be called twice, and any other call after
  it is a ValueError.  Several threads may use one Device at once; one at a time
  uses one of the others.  No other thread uses a Device, or what was made with it,
  while it is closed.  All else is plain data of its own, that stays valid.
- A child of os.fork() cannot use those of its parent: any call but close() is a
  ValueError.  The child opens others.  close() there closes the child's copy of the
  device's descriptor, which would keep the sampling on; it changes nothing of the
  parent's, and the memory of what was made with the device stays until the child ends.

libcmt(3) and cmt(4) say more.
"""
from ._libcmt import ffi as _ffi
from ._libcmt import lib as _lib
from .columns import Columns
from .containers import Container, Containers, container_name
from .device import Attached, Device, Info, Resctrl, Snapshot, Stats
from .errors import Error, PatternError
from .reader import (Counts, Lifecycle, Lost, Perf, Reader, Record, Sample,
                     State, Tick)
from .recording import About, Recording
from .slots import Entries, Slot, SlotCounts, SlotCpus, Slots
from .slowdown import Incident, IncidentPart, Party, Slowdown, Slowdowns
from .types import (Backend, By, Flag, Owner, OwnerKind, RecordType, ResctrlMode, Resource,
                    RowFlag, RowKind, Scope, UsageWhy, Vendor, Why)
from .usage import (Channel, Counters, Coverage, Difference, Frame, Idle, Memory,
                    Occupancy, Rate, Row, Rows, Usage, WaitPart)

#: The version of libcmt that is in use, such as "0.1.0".
__version__: str = _ffi.string(_lib.cmt_version()).decode()

__all__ = [
    "About", "Attached", "Backend", "By", "Channel", "Columns", "Container", "Containers",
    "Counters", "Counts", "Coverage", "Device", "Difference", "Entries", "Error", "Flag", "Frame",
    "Incident", "IncidentPart", "Info", "Lifecycle", "Lost", "Memory", "Occupancy", "Owner",
    "OwnerKind", "Party", "PatternError", "Perf", "Rate", "Reader", "Record", "RecordType",
    "Recording", "Resctrl", "ResctrlMode", "Resource", "Row", "RowFlag", "RowKind", "Rows", "Sample",
    "Scope", "Slot", "SlotCounts", "SlotCpus", "Slots", "Slowdown", "Slowdowns", "Snapshot", "State",
    "Stats", "Tick", "Usage", "UsageWhy", "Vendor", "WaitPart", "Why", "container_name",
]
