# SPDX-License-Identifier: LGPL-2.1-or-later
"""The reader: all CPUs' records in one order of time, none lost uncounted."""
import errno
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from ._libcmt import ffi, lib
from .device import Device
from .errors import check
from .handle import Handle
from .types import (Flag, Owner, RecordType, ResctrlMode, Scope, make_owner,
                    measured)


@dataclass(frozen=True)
class Record:
    """
    What the module wrote.

    Its subclasses have a payload: Sample, Tick, Perf, Lifecycle (ALLOC, FREE, UPDATE,
    ALLOC_FAIL), State and Lost.  Types that are not known are plain Records.
    """

    ts_ns: int
    type: RecordType
    flags: Flag
    cpu: int  #: whose ring it was in
    rmid: int  #: 0: not attributed to an owner
    generation: int  #: with the RMID it names an owner
    domain: int  #: L3 domain, as resctrl numbers them


@dataclass(frozen=True)
class Sample(Record):
    """A reading of one RMID in one domain.  None: not measured, flags say why."""

    occupancy_bytes: int | None  #: now, residual_bytes included
    mbm_total_bytes: int | None  #: since the RMID was handed out
    mbm_local_bytes: int | None
    residual_bytes: int | None  #: left by owners before this one, at most


@dataclass(frozen=True)
class Tick(Record):
    """One CPU's sampling timer; missed to busy_ns are since the module was loaded."""

    interval_ns: int  #: in force
    missed: int  #: ticks
    deferred: int  #: samples put off to a later tick
    busy_ns: int  #: spent in ticks
    read: int  #: RMIDs read in this tick
    waiting: int  #: RMIDs due in this tick and not read


@dataclass(frozen=True)
class Perf(Record):
    """Counts of one RMID on this CPU since its last Perf there.  None: not counted."""

    ran_ns: int  #: with the RMID; of RMID 0 with idle time
    cycles: int | None  #: unhalted
    instructions: int | None  #: retired
    llc_misses: int | None
    llc_references: int | None
    waited_ns: int | None  #: for the CPU, of all its tasks


@dataclass(frozen=True)
class Lifecycle(Record):
    """An RMID was handed out or released, or its owner has a new name."""

    owner: Owner


@dataclass(frozen=True)
class State(Record):
    """A setting that all readers share has changed to this."""

    scope: Scope
    interval_ns: int
    resctrl: ResctrlMode
    resctrl_mounted: bool
    counters: Flag  #: CYCLES, ...: what is counted


@dataclass(frozen=True)
class Lost(Record):
    """Here, so many records of this CPU were overwritten before they were read."""

    lost: int


@dataclass(frozen=True)
class Counts:
    """
    Where every record went, since the reader began:
    emitted = delivered + lost + late + malformed + pending.
    """

    emitted: int
    delivered: int
    lost: int  #: overwritten before they were read
    late: int  #: came after latency_ns, dropped
    malformed: int  #: impossible, dropped
    pending: int  #: their fate is not yet known
    quiet: int  #: CPUs that are excluded: online, no TICK, no PERF


class Reader(Handle):
    """
    The device's rings, mapped.  Sampling starts if it was off.

    device: has one reader at a time; it is kept while the reader is.
    latency_ns: wait at most so long for a CPU that says nothing; 0: 13/16 of
    info.ring_hold_ns, at most 500 ms.
    watermark: records in one ring that end wait(); 0: an eighth of the smallest.
    oldest: begin with the oldest record that is still there, not with the next.

    Error: EBUSY (the device has a reader), EPROTO (a ring contradicts what the
    device said), EINVAL (an option), ENOMEM, or what mmap(2) says.
    """

    def __init__(self, device: Device, *, latency_ns: int = 0,
                 watermark: int = 0, oldest: bool = False) -> None:
        store = ffi.new("struct cmt_reader **")
        opts = ffi.new("struct cmt_reader_opts *", {
            "sz": ffi.sizeof("struct cmt_reader_opts"),
            "latency_ns": latency_ns,
            "watermark": watermark,
            "flags": lib.CMT_READER_OLDEST if oldest else 0,
        })
        check(lib.cmt_reader_new(store, device.pointer, opts), "reader")
        super().__init__(store[0], lib.cmt_reader_free, device)

    def read(self, n: int = 256) -> list[Record]:
        """
        Take up to n records in strict order of time, CPU and place in the ring.

        Does not block; none: nothing is ready.  A program that waits
        for Device.fileno() calls this until there is none.  Error: EPROTO (a ring makes no sense; the
        reader is of no further use).
        """
        raw = ffi.new("struct cmt_record[]", n)
        count = check(lib.cmt_reader_read(self.pointer, raw, n), "read")
        return [_make_record(raw[i]) for i in range(count)]

    def wait(self, timeout_ms: int = -1) -> bool:
        """
        Sleep until a ring has watermark new records, for at most timeout_ms.
        Then call read() until it returns none.

        -1: no limit.  Other threads go on meanwhile.  False: the time is over,
        or a signal came.  Error: ENODEV (the device is gone), or what poll(2)
        and read(2) say.
        """
        result = lib.cmt_reader_wait(self.pointer, timeout_ms)
        return result != -errno.EINTR and check(result, "wait") > 0

    def counts(self, cpu: int | None = None) -> Counts:
        """The sum over all CPUs, or one.  Error: EINVAL (no such CPU)."""
        raw = ffi.new("struct cmt_reader_counts *",
                      {"sz": ffi.sizeof("struct cmt_reader_counts")})
        if cpu is None:
            check(lib.cmt_reader_counts(self.pointer, raw), "counts")
        else:
            check(lib.cmt_reader_cpu_counts(self.pointer, cpu, raw),
                  f"CPU {cpu}")
        return Counts(**{f.name: int(getattr(raw, f.name))
                         for f in fields(Counts)})

    def __iter__(self) -> Iterator[Record]:
        """Yield records in order, without end; wait where there are none."""
        while True:
            records = self.read()
            yield from records
            if not records:
                self.wait(10)


_LIFECYCLE = (RecordType.ALLOC, RecordType.FREE, RecordType.EXISTING,
              RecordType.UPDATE, RecordType.ALLOC_FAIL)


def _make_record(raw: Any) -> Record:
    kind, flags = RecordType(raw.type), Flag(raw.flags)
    common = (raw.ts, kind, flags, raw.cpu, raw.rmid, raw.generation,
              raw.domain)
    if kind == RecordType.SAMPLE:
        sample = raw.sample
        return Sample(
            *common,
            measured(flags, Flag.OCCUPANCY, sample.occupancy_bytes),
            measured(flags, Flag.MBM_TOTAL, sample.mbm_total_bytes),
            measured(flags, Flag.MBM_LOCAL, sample.mbm_local_bytes),
            measured(flags, Flag.RESIDUAL, sample.residual_bytes))
    if kind == RecordType.TICK:
        tick = raw.tick
        return Tick(*common, raw.interval_ns, tick.missed, tick.deferred,
                    tick.busy_ns, tick.read, tick.waiting)
    if kind == RecordType.PERF:
        perf = raw.perf
        return Perf(
            *common, raw.ran_ns,
            measured(flags, Flag.CYCLES, perf.cycles),
            measured(flags, Flag.INSTRUCTIONS, perf.instructions),
            measured(flags, Flag.LLC_MISSES, perf.llc_misses),
            measured(flags, Flag.LLC_REFERENCES, perf.llc_references),
            measured(flags, Flag.WAITED, perf.waited_ns))
    if kind in _LIFECYCLE:
        store = ffi.new("struct cmt_owner *",
                        {"sz": ffi.sizeof("struct cmt_owner")})
        check(lib.cmt_record_owner(ffi.addressof(raw), store), "owner")
        owner = make_owner(store)
        assert owner
        return Lifecycle(*common, owner)
    if kind == RecordType.STATE:
        state = raw.state
        return State(*common, Scope(state.scope), state.interval_ns,
                     ResctrlMode(state.resctrl), bool(state.resctrl_mounted),
                     Flag(state.counters))
    if kind == RecordType.LOST:
        return Lost(*common, lib.cmt_record_lost(ffi.addressof(raw)))
    return Record(*common)
