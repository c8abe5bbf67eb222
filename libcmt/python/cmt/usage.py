# SPDX-License-Identifier: LGPL-2.1-or-later
"""Usage: occupancy and traffic of owners, per interval."""
import errno
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._libcmt import ffi, lib
from .columns import Block, Cache, Column, Columns
from .containers import Container, make_container
from .device import Device
from .errors import check
from .handle import Handle
from .recording import Recording
from .types import By, Flag, OwnerKind, RowFlag, RowKind, UsageWhy, measured, text


@dataclass(frozen=True)
class Occupancy:
    """The occupancy of a row, in bytes.  None: unknown, why has the reason."""

    known: bool
    partial: bool  #: something is left out: what is known is a lower bound
    why: UsageWhy
    last_bytes: int | None  #: at the end of the interval
    least_bytes: int | None  #: of the slots; None: slots is 0
    mean_bytes: int | None  #: likewise
    most_bytes: int | None  #: of all time slots, also of an owner that has ended
    residual_bytes: int | None  #: of last_bytes, left by owners before, at most; None, without
    #: a reason: some RMID in the row was not read when its owner got it
    age_ns: int | None  #: of the oldest part, if older than the last slot; else 0
    slots: int  #: time slots in which all was known, which least and mean are of


@dataclass(frozen=True)
class Rate:
    """Memory traffic of a row.  None: unknown, why has the reason."""

    known: bool
    partial: bool  #: known, and something is left out: a lower bound
    why: UsageWhy
    bytes: int | None  #: in the interval
    rate: float | None  #: bytes a second
    lo: float | None  #: it lies between these, by the unit of the counters and
    hi: float | None  #: the times of the readings; hi is inf where it is partial


@dataclass(frozen=True)
class Counters:
    """Counts of the processor for a row, and what its tasks waited for a CPU.

    None: unknown, why has the reason, or not asked for.
    """

    known: bool  #: ran_ns is
    partial: bool  #: some of it are lower bounds: bounds
    why: UsageWhy
    bounds: Flag  #: CYCLES, ...
    ran_ns: int | None  #: CPU time
    cycles: int | None
    instructions: int | None
    llc_misses: int | None
    llc_references: int | None
    cpu_share: float | None  #: CPUs used; 1.0: one CPU all the time
    ipc: float | None  #: instructions per cycle
    mpki: float | None  #: LLC misses per 1,000 instructions
    waited_ns: int | None  #: time in which tasks could have run and others did
    wait_share: float | None  #: 1.0: one task waited all the time
    wait_quota: bool  #: some task was out of its quota, which is not in waited_ns


@dataclass(frozen=True)
class WaitPart:
    """What tasks of a row waited for CPUs while a row, or the same one, ran there."""

    row: int  #: who waited: index in Frame.rows and Frame.columns
    by: int | None  #: who ran, likewise; None: unknown, since records are lost
    ns: int


@dataclass(frozen=True)
class Coverage:
    """
    How complete the values of a row are, from 0 to 1, the complete value.

    None: there was nothing to count, another agent's RMID counted some of it, or the
    machine does not have the event.
    """

    occupancy: float | None  #: of the owners in each domain, those that are known
    total: float | None  #: of the time between readings, that which was counted
    local: float | None  #: likewise


@dataclass(frozen=True)
class Idle:
    """How much of the time no read was pending in the first half of a channel.

    Writes are in neither; it is not the bandwidth that is free.  None: not known, why
    says what for.
    """

    known: bool
    partial: bool  #: known, of a part of the interval
    why: UsageWhy
    idle_cycles: int | None  #: of the memory controller, with no read pending
    busy_cycles: int | None  #: with one at least
    share: float | None  #: of the idle ones in both, 0 to 1


@dataclass(frozen=True)
class Channel:
    """A memory channel in one interval: the traffic of all RMIDs, the kernel and devices."""

    socket: int
    channel: int  #: id of the box, on the socket
    why: UsageWhy  #: of all its values but idle
    read: Rate
    written: Rate
    total: Rate  #: both together
    idle: Idle


@dataclass(frozen=True)
class Difference:
    """A rate less another one, bytes a second; it may be below 0."""

    known: bool
    why: UsageWhy
    rate: float | None
    lo: float  #: it lies between these, also where it is not known;
    hi: float  #: -inf, inf: there is no such bound


@dataclass(frozen=True)
class Memory:
    """The traffic of all memory channels, and of all RMIDs."""

    read: Rate  #: known only if every channel is
    written: Rate
    total: Rate
    rmids: Rate  #: total bandwidth of all RMIDs, RMID 0 among them
    unattributed: Difference  #: total less rmids
    reason: str  #: why no channel, or not every one, is read; "": all are


@dataclass(frozen=True)
class Row:
    """One container, process, CPU or L3 domain in one interval."""

    kind: RowKind
    owner: OwnerKind | None  #: None: it is no owner's
    flags: RowFlag
    why: UsageWhy  #: of all its values
    container: Container | None  #: None: in no cgroup
    cgroup_id: int  #: 0: in none
    comm: str  #: the process's name; "" of a container; escaped, if not UTF-8
    pid: int  #: of a process, else 0
    rmid: int  #: by CPU: at the last tick; 0 of a container's row
    generation: int
    domain: int  #: by domain and by CPU
    cpu: int  #: of OwnerKind.CPU, by CPU, and with RowFlag.GROUP_CPU
    rmids: int  #: coverage: owners in the row with a dedicated RMID
    pending: int | None  #: coverage: owners that share the overflow RMID
    l3_bytes: int | None  #: what 100 % is
    occupancy: Occupancy
    total: Rate
    local: Rate
    children: "tuple[Row, ...]"  #: its processes, by Usage(children=True)
    ticks: int  #: this and what follows: of a CPU
    busy_ticks: int  #: with an RMID other than 0
    missed: int  #: ticks that did not happen
    busy_ns: int  #: spent in ticks
    lost: int  #: records
    counters: Counters  #: of every row
    coverage: Coverage  #: of every row but those by CPU

    @property
    def emulated(self) -> bool:
        """True if the values come from a model, not from hardware."""
        return RowFlag.EMULATED in self.flags


class Rows(Columns):
    """
    The rows of a frame by column; the names are those of Row.

    What is not known is -1, or NaN in a rate or ratio; the columns ..._known tell, too.
    """

    layout = "struct cmt_usage_row"
    strided = True
    kind = Column(form="I")  #: RowKind
    owner = Column()  #: OwnerKind, 0: none
    flags = Column()  #: RowFlag
    why = Column()  #: UsageWhy
    cgroup_id = Column()
    pid = Column()
    rmid = Column()
    generation = Column()
    domain = Column()
    cpu = Column()
    rmids = Column()
    pending = Column()  #: 0, too, where Frame.pending is None
    l3_bytes = Column()  #: 0: not known
    occupancy_known = Column("occupancy", "known")
    occupancy_partial = Column("occupancy", "partial")
    occupancy_why = Column("occupancy", "why")
    occupancy_bytes = Column("occupancy", "last_bytes", form="q")
    least_bytes = Column("occupancy", "least_bytes", form="q")
    mean_bytes = Column("occupancy", "mean_bytes", form="q")
    most_bytes = Column("occupancy", "most_bytes", form="q")
    occupancy_slots = Column("occupancy", "slots")
    residual_bytes = Column("occupancy", "residual_bytes", form="q")
    age_ns = Column("occupancy", "age_ns", form="q")
    total_known = Column("total", "known")
    total_partial = Column("total", "partial")
    total_why = Column("total", "why")
    total_bytes = Column("total", "bytes", form="q")
    total_rate = Column("total", "rate")
    total_lo = Column("total", "lo")
    total_hi = Column("total", "hi")
    local_known = Column("local", "known")
    local_partial = Column("local", "partial")
    local_why = Column("local", "why")
    local_bytes = Column("local", "bytes", form="q")
    local_rate = Column("local", "rate")
    local_lo = Column("local", "lo")
    local_hi = Column("local", "hi")
    ticks = Column()
    busy_ticks = Column()
    missed = Column()
    busy_ns = Column()
    lost = Column()
    counters_known = Column("counters", "known")
    counters_partial = Column("counters", "partial")
    counters_why = Column("counters", "why")
    counters_bounds = Column("counters", "bounds")
    ran_ns = Column("counters", "ran_ns", form="q")
    cycles = Column("counters", "cycles", form="q")
    instructions = Column("counters", "instructions", form="q")
    llc_misses = Column("counters", "llc_misses", form="q")
    llc_references = Column("counters", "llc_references", form="q")
    cpu_share = Column("counters", "cpu_share")
    ipc = Column("counters", "ipc")
    mpki = Column("counters", "mpki")
    waited_ns = Column("counters", "waited_ns", form="q")
    wait_share = Column("counters", "wait_share")
    coverage_occupancy = Column("coverage", "occupancy")
    coverage_total = Column("coverage", "total")
    coverage_local = Column("coverage", "local")


class Frame:
    """
    One interval.

    rows are objects, made when they are asked for; columns the same as memory.
    Both are in no order of use, and in the same.
    """

    def __init__(self, block: Block, containers: Cache[Container]) -> None:
        raw = block.head.frame
        self._block, self._containers = block, containers
        self._rows: tuple[Row, ...] | None = None
        self.start_ns: int = raw.start_ns
        self.end_ns: int = raw.end_ns  #: exclusive
        #: Of the last reading.
        self.last_ns: int | None = raw.last_ns or None
        #: Since the last reading of the frame before.
        self.elapsed_ns: int = raw.elapsed_ns
        self.by = By(raw.by)
        self.emulated: bool = raw.emulated
        self.nr_cpus: int = raw.nr_cpus  #: that ticked in the interval
        self.nr_domains: int = raw.nr_domains  #: seen so far
        self.sampling_ns: int = raw.sampling_ns  #: in force; 0: no tick
        self.busy_ns: int = raw.busy_ns  #: spent sampling, all CPUs
        self.missed: int = raw.missed  #: ticks that did not happen, all CPUs
        #: Pending owners; None: not counted, and not known.
        self.pending: int | None = raw.pending if raw.pending_known else None
        #: Records overwritten before they were read, in the interval ...
        self.lost: int = raw.lost
        self.lost_ever: int = raw.lost_ever  #: ... and since the start
        self.dropped: int = raw.dropped  #: records late or malformed, likewise
        self.dropped_ever: int = raw.dropped_ever
        self.nr_slots: int = raw.nr_slots  #: time slots with a record
        #: Of these, with records lost in their time: rows may lack something.
        self.nr_gaps: int = raw.nr_gaps
        self.counted_ns: int = raw.counted_ns  #: that counters are of; 0: none
        #: CYCLES, ...: what some record of the interval has.
        self.counters = Flag(raw.counters)
        self.memory = _make_memory(raw.memory, text(block.head.channels_reason))
        self.columns = Rows(block, block.head.rows_at, raw.nr_rows)
        #: Of all rows' children together.
        self.child_columns = Rows(
            block, block.head.rows_at + raw.nr_rows * _ROW, raw.nr_children)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The memory channels, by socket and channel; Usage(counters=Flag.CHANNEL)."""
        head, data = self._block.head, self._block.data
        size = head.frame.nr_channels * _CHANNEL
        raw = ffi.from_buffer("struct cmt_usage_channel[]",
                              data[head.channels_at:head.channels_at + size])
        return tuple(
            Channel(c.socket, c.channel, UsageWhy(c.why), _make_rate(c.read),
                    _make_rate(c.written), _make_rate(c.total), _make_idle(c.idle))
            for c in raw)

    @property
    def waits(self) -> tuple[WaitPart, ...]:
        """
        For whom tasks waited, by row, the largest first; Usage(waits=True).

        The parts of a row add up to its waited_ns.
        """
        head, data = self._block.head, self._block.data
        size = head.frame.nr_waits * _WAIT
        raw = ffi.from_buffer("struct cmt_usage_wait_part[]",
                              data[head.waits_at:head.waits_at + size])
        return tuple(
            WaitPart(w.row, None if w.by == lib.CMT_USAGE_WAIT_UNKNOWN else w.by, w.ns)
            for w in raw)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows, each with its children."""
        if self._rows is None:
            self._rows = self._make_rows()
        return self._rows

    def _make_rows(self) -> tuple[Row, ...]:
        head, data = self._block.head, self._block.data
        raw = ffi.from_buffer(
            "struct cmt_usage_row[]",
            data[head.rows_at:head.rows_at + head.nr * _ROW])
        ends = data[head.names_at:head.names_at + (head.nr + 1) * 8].cast("Q")
        keys = [bytes(data[ends[i]:ends[i + 1]]) for i in range(head.nr)]
        names = self._containers.take(key for key in keys if key)
        found = iter(names)
        containers = [next(found) if key else None for key in keys]
        first = head.frame.nr_rows
        known = self.pending is not None
        children = [_make_row(raw[i], containers[i], (), known)
                    for i in range(first, head.nr)]
        return tuple(
            _make_row(raw[i], containers[i], tuple(
                children[raw[i].first_child:
                         raw[i].first_child + raw[i].nr_children]), known)
            for i in range(first))


_ROW = ffi.sizeof("struct cmt_usage_row")
_CHANNEL = ffi.sizeof("struct cmt_usage_channel")
_WAIT = ffi.sizeof("struct cmt_usage_wait_part")
_UNKNOWN = (1 << 64) - 1


class Usage(Handle):
    """
    The usage of a device, an iterator over intervals without end, or of a recording,
    which ends.

    by: what a row is.  children: by container, with rows of its processes.
    interval_ns: of a frame, slot_ns to 1 h.
    slot_ns: time slots that least, mean and most are of, 10 us to 10 s.
    counters: CYCLES, INSTRUCTIONS, LLC_MISSES, LLC_REFERENCES: what the processor is to
    count meanwhile, WAITED: what tasks wait for a CPU is accounted, and CHANNEL: memory
    channels are read, see Device.set_counters(); an older module counts nothing.
    waits: by container and by process, Frame.waits says for whom tasks waited.
    values: OCCUPANCY, MBM_TOTAL, MBM_LOCAL: what rows have, see Device.set_values();
    Flag(0): all.
    source: a device, which has one reader at a time, and this is one, or a recording,
    which has one usage at a time.  It is kept meanwhile.

    An iteration of a device waits for each interval, and renews names and, once a second,
    the count of pending owners.  A program with a loop of its own polls
    Device.fileno() for timeout_ms(), and calls next() until that is None and,
    now and then, refresh().

    Error: EINVAL (an option), EBUSY (the recording has a usage), ENOMEM, or as Reader().
    """

    def __init__(self, source: Device | Recording, *, by: By = By.CONTAINER,
                 interval_ns: int = 100_000_000, slot_ns: int = 1_000_000,
                 children: bool = False, counters: Flag = Flag(0),
                 waits: bool = False, values: Flag = Flag(0)) -> None:
        self._ends = isinstance(source, Recording)
        store = ffi.new("struct cmt_usage **")
        opts = ffi.new("struct cmt_usage_opts *", {
            "sz": ffi.sizeof("struct cmt_usage_opts"),
            "recording" if self._ends else "device": source.pointer,
            "by": by,
            "flags": (lib.CMT_USAGE_CHILDREN if children else 0) |
                     (lib.CMT_USAGE_WAITS if waits else 0),
            "interval_ns": interval_ns,
            "slot_ns": slot_ns,
            "counters": counters,
            "values": values,
        })
        check(lib.cmt_usage_new(store, opts), "usage")
        super().__init__(store[0], lib.cmt_usage_free, source)
        self._containers: Cache[Container] = Cache(make_container)
        self._count_at = 0.0

    def next(self) -> Frame | None:
        """
        The next interval that is complete; None: there is none yet, and of a
        recording it is the end.

        Takes in what there is to read, for a bounded time; never blocks, and
        reads no file.  Error: EPROTO (a ring makes no sense) or ENOMEM: the
        interval may lack records, and it is best to begin again.
        """
        raw = self._next()
        return None if raw is None else self._copy(raw)

    def peek(self) -> Frame:
        """The open interval, as far as next() has read it."""
        store = ffi.new("const struct cmt_usage_frame **")
        check(lib.cmt_usage_peek(self.pointer, store), "usage")
        return self._copy(store[0])

    def refresh(self, *, names: bool = True, pending: bool = True) -> None:
        """
        Renew what is not in the records; it holds from the next frame on.

        names: of cgroups, which asks the kernel, and reads state files, which
        may wait for a disk.  pending: count pending owners, for which the
        module looks at every process.  Error: what ioctl(2) says.
        """
        what = (lib.CMT_USAGE_NAMES if names else 0) | (
            lib.CMT_USAGE_PENDING if pending else 0)
        if what:
            check(lib.cmt_usage_refresh(self.pointer, what), "names and counts")

    def timeout_ms(self) -> int:
        """For poll(): call next() after this time at the latest; 0: now."""
        return int(lib.cmt_usage_timeout(self.pointer))

    def wait(self, timeout_ms: int = -1) -> bool:
        """
        Sleep until next() has something to do, for at most timeout_ms.

        -1: no limit.  Other threads go on meanwhile.  False: the time is over,
        or a signal came.  Error: ENODEV (the device is gone), or what poll(2)
        and read(2) say.
        """
        result = lib.cmt_usage_wait(self.pointer, timeout_ms)
        return result != -errno.EINTR and check(result, "wait") > 0

    def __iter__(self) -> Iterator[Frame]:
        """Yield intervals in order, to the end of a recording; wait for those of a device."""
        while True:
            raw = self._next()
            self._renew()
            if raw is None and self._ends:
                return
            if raw is None:
                self.wait()
            else:
                # Copied here: what was renewed is in it.
                yield self._copy(raw)

    def _next(self) -> Any:
        store = ffi.new("const struct cmt_usage_frame **")
        found = check(lib.cmt_usage_next(self.pointer, store), "usage")
        return store[0] if found else None

    def _renew(self) -> None:
        now = time.monotonic()
        self.refresh(pending=now >= self._count_at)
        if now >= self._count_at:
            self._count_at = now + 1

    def _copy(self, raw: Any) -> Frame:
        return Frame(Block(lib.usage_block_copy(raw)), self._containers)


def _known(known: bool, value: Any) -> Any:
    return value if known else None


def _make_occupancy(raw: Any) -> Occupancy:
    known, slots = raw.known, raw.slots
    return Occupancy(
        known, raw.partial, UsageWhy(raw.why), _known(known, raw.last_bytes),
        _known(slots > 0, raw.least_bytes), _known(slots > 0, raw.mean_bytes),
        _known(raw.most_bytes != _UNKNOWN, raw.most_bytes),
        _known(raw.residual_known, raw.residual_bytes), _known(known, raw.age_ns), slots)


def _make_rate(raw: Any) -> Rate:
    known = raw.known
    return Rate(known, raw.partial, UsageWhy(raw.why), _known(known, raw.bytes),
                _known(known, raw.rate), _known(known, raw.lo),
                _known(known, raw.hi))


def _make_idle(raw: Any) -> Idle:
    known = raw.known
    return Idle(known, raw.partial, UsageWhy(raw.why),
                _known(known, raw.idle_cycles), _known(known, raw.busy_cycles),
                _known(known, raw.share))


def _make_memory(raw: Any, reason: str) -> Memory:
    rest = raw.unattributed
    return Memory(
        _make_rate(raw.read), _make_rate(raw.written), _make_rate(raw.total),
        _make_rate(raw.rmids),
        Difference(rest.known, UsageWhy(rest.why), _known(rest.known, rest.rate),
                   rest.lo, rest.hi), reason)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _make_counters(raw: Any) -> Counters:
    known, values = raw.known, raw.values if raw.known else 0
    return Counters(
        known, raw.partial, UsageWhy(raw.why), Flag(raw.bounds),
        _known(known, raw.ran_ns),
        measured(values, Flag.CYCLES, raw.cycles),
        measured(values, Flag.INSTRUCTIONS, raw.instructions),
        measured(values, Flag.LLC_MISSES, raw.llc_misses),
        measured(values, Flag.LLC_REFERENCES, raw.llc_references),
        _number(raw.cpu_share), _number(raw.ipc), _number(raw.mpki),
        measured(values, Flag.WAITED, raw.waited_ns), _number(raw.wait_share), raw.quota)


def _make_coverage(raw: Any) -> Coverage:
    return Coverage(_number(raw.occupancy), _number(raw.total), _number(raw.local))


def _make_row(raw: Any, container: Container | None, children: tuple[Row, ...],
              pending_known: bool) -> Row:
    return Row(
        kind=RowKind(raw.kind),
        owner=OwnerKind(raw.owner) if raw.owner else None,
        flags=RowFlag(raw.flags),
        why=UsageWhy(raw.why),
        container=container,
        cgroup_id=raw.cgroup_id,
        comm=text(raw.comm),
        pid=raw.pid,
        rmid=raw.rmid,
        generation=raw.generation,
        domain=raw.domain,
        cpu=raw.cpu,
        rmids=raw.rmids,
        pending=raw.pending if pending_known else None,
        l3_bytes=raw.l3_bytes or None,
        occupancy=_make_occupancy(raw.occupancy),
        total=_make_rate(raw.total),
        local=_make_rate(raw.local),
        children=children,
        ticks=raw.ticks,
        busy_ticks=raw.busy_ticks,
        missed=raw.missed,
        busy_ns=raw.busy_ns,
        lost=raw.lost,
        counters=_make_counters(raw.counters),
        coverage=_make_coverage(raw.coverage),
    )
