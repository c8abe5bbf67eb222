# SPDX-License-Identifier: LGPL-2.1-or-later
"""Slowdown: who makes whom slower, by how much, and since when."""
import errno
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._libcmt import ffi, lib
from .containers import Container, packed, make_container
from .device import Device
from .errors import check
from .handle import Handle
from .recording import Recording
from .types import Flag, Resource, RowKind


@dataclass(frozen=True)
class Party:
    """A victim or a suspect."""

    kind: RowKind  #: UNATTRIBUTED: the load outside containers; OVERFLOW: the overflow RMID;
    #: OUTSIDE: outside this machine, only as a suspect
    cgroup_id: int  #: 0: in no cgroup
    container: Container | None  #: None: in no cgroup, or no longer in the cache of names


@dataclass(frozen=True)
class Slowdown:
    """How much slower a victim is because of one suspect, by one resource.

    By cache and memory it is an estimate; by CPU it is the kernel's account.
    """

    victim: Party
    suspect: Party  #: of Resource.CPU, the victim too: its tasks waited for its own
    resource: Resource
    domain: int | None  #: the L3 domain; None: of Resource.CPU
    share: float  #: of the victim's time, 0 to 1, that it would not need
    low: float  #: bounds of share
    high: float
    most: float  #: by this resource, all suspects together cost this
    cpus: float | None  #: share * cpus is CPU time lost, in seconds a second; None: not known


@dataclass(frozen=True)
class IncidentPart:
    """What one suspect cost the victim of an incident, by one resource."""

    suspect: Party
    resource: Resource
    domain: int | None  #: the L3 domain; None: of Resource.CPU
    share: float  #: now
    held_bytes: int | None  #: of the cache of domain, by the suspect; None: not known
    lost_ns: int | None  #: CPU time, since the begin


@dataclass(frozen=True)
class Incident:
    """A time in which neighbours make a victim slower: 5 % or more, until it is below 2.5 %."""

    number: int  #: from 1 on; the same when it begins and when it has ended
    victim: Party
    goes_on: bool  #: it has not ended
    began_before: bool  #: begin_ns is the first slot, and it began before that
    clipped: bool  #: there are more parts, which cost less
    begin_ns: int
    end_ns: int  #: while it goes on: of the last estimate
    share: float  #: now, by all suspects together; of an ended one 0
    low: float  #: bounds of share
    high: float
    worst: float  #: the greatest share
    lost_ns: int | None  #: CPU time; None: the victim's is not known
    cpi: float | None  #: cycles per instruction, in the last second
    mpki: float | None  #: misses per 1,000 instructions
    parts: tuple[IncidentPart, ...]  #: what cost most first
    cpi_without: float | None  #: what cpi would be without all suspects
    unknown: bool  #: it has ended as counters of the victim stopped: it may still be slower


#: What is counted to tell all three resources apart.
COUNTED = (Flag.CYCLES | Flag.INSTRUCTIONS | Flag.LLC_MISSES | Flag.LLC_REFERENCES |
           Flag.WAITED)

_KINDS = frozenset(RowKind)
_ONCE = 256  #: frames in one call: what stops a program waits for it
_MOST = 1024  #: slowdowns
_ROOM = (1024, 16384)  #: owners times L3 domains


class Slowdowns(Handle):
    """
    The slowdowns and incidents of a device, or of a recording: an iterator over incidents.

    It follows all containers from millisecond to millisecond, so it needs a sampling
    interval of 1 ms: with a longer sampling_ns nothing is known.
    source: a device, which has one reader at a time, and this is one, or a recording,
    which has one usage at a time, and this is one.  It is kept meanwhile.
    counters: the values that a device is asked to count meanwhile; by cache and memory
    slowdown needs all but WAITED, by CPU only WAITED.

    An iteration yields an incident when it begins and when it has ended; of a device
    without end.  A program with a loop of its own polls Device.fileno() for
    timeout_ms(), calls read() until that is 0, then incidents(), now() or minute(), and
    once a second refresh().

    Error: EINVAL (an option), EBUSY (the recording has a usage), ENOMEM, or as Reader().
    """

    def __init__(self, source: Device | Recording, *, counters: Flag = COUNTED) -> None:
        self._ends = isinstance(source, Recording)
        self._read = ffi.new("struct slowdown_read *")
        self._refresh_at = 0.0
        self._culprit = _new_culprit(source)
        super().__init__(_new_usage(source.pointer, self._ends, counters),
                         lib.cmt_usage_free, source)

    def close(self) -> None:
        """Free the library's objects.  Closing twice does nothing."""
        super().close()
        ffi.release(self._culprit)

    def read(self) -> int:
        """
        Take in what there is to read, a bounded part of it; never blocks.

        Returns the number of milliseconds; 0: there are none yet, and of a recording it
        is the end.  Error: as Usage.next().
        """
        check(lib.slowdown_read(self.pointer, self._engine, _ONCE, self._read), "slowdown")
        frames: int = self._read.frames
        return frames

    def refresh(self) -> None:
        """Renew names, and read the times of quotas: asks the kernel, and reads files."""
        check(lib.cmt_usage_refresh(self.pointer, lib.CMT_USAGE_NAMES), "names")
        self._read.look_due = True

    def timeout_ms(self) -> int:
        """For poll(): call read() after this time at the latest; 0: now."""
        return int(lib.cmt_usage_timeout(self.pointer))

    def wait(self, timeout_ms: int = -1) -> bool:
        """As Usage.wait(), for read()."""
        result = lib.cmt_usage_wait(self.pointer, timeout_ms)
        return result != -errno.EINTR and check(result, "wait") > 0

    @property
    def sampling_ns(self) -> int:
        """The sampling interval in force; 0: no tick so far."""
        return int(self._read.sampling_ns)

    @property
    def end_ns(self) -> int | None:
        """The end of the last millisecond that was read; None: there was none."""
        return self._read.end_ns or None

    @property
    def lost(self) -> int:
        """Records that were overwritten before they were read."""
        return int(self._read.lost)

    @property
    def emulated(self) -> bool:
        """True if the values come from a model, not from hardware."""
        return bool(self._read.emulated)

    @property
    def counted(self) -> int:
        """Owners with cycles, instructions and misses, lately; 0: nothing is known of memory.

        Those that are never victims, as the unattributed load, only while no other one runs.
        """
        return int(self._counts().counted)

    @property
    def referenced(self) -> int:
        """Those of them with references; 0: nothing is known of cache."""
        return int(self._counts().referenced)

    def _counts(self) -> Any:
        counts = ffi.new("struct cmt_culprit_counts *", {
            "sz": ffi.sizeof("struct cmt_culprit_counts")})
        check(lib.cmt_culprit_counts(self._engine, counts), "slowdown")
        return counts

    def now(self) -> tuple[Slowdown, ...]:
        """Of about the last second, the greatest first."""
        return self._slowdowns(lib.cmt_culprit_slowdown)

    def minute(self) -> tuple[Slowdown, ...]:
        """Means over the last minute, or since the first second, the greatest first."""
        return self._slowdowns(lib.cmt_culprit_slowdown_minute)

    def too_little(self) -> tuple[Party, ...]:
        """
        Those that ran in the last seconds, but too little to tell by cache and memory.

        How much slower they are by those is not known, and now() has nothing of it.
        """
        raw = ffi.new("uint64_t[]", _MOST)
        n = check(lib.cmt_culprit_too_little(self._engine, raw, _MOST), "slowdown")
        return tuple(self._party(owner) for owner in raw[0:min(n, _MOST)])

    def incidents(self) -> tuple[Incident, ...]:
        """Those that began or ended since the last call, the newest 32."""
        found, store = [], ffi.new("const struct cmt_incident **")
        while lib.cmt_culprit_next_incident(self._engine, store) > 0:
            found.append(self._incident(store[0]))
        return tuple(found)

    def open_incidents(self) -> tuple[Incident, ...]:
        """Those that go on, in the order of numbers."""
        found: list[Incident] = []
        while raw := lib.cmt_culprit_incident_at(self._engine, len(found)):
            found.append(self._incident(raw))
        return tuple(found)

    def __iter__(self) -> Iterator[Incident]:
        """Yield incidents as they begin and end, to the end of a recording."""
        while True:
            frames = self.read()
            if time.monotonic() >= self._refresh_at:
                self.refresh()
                self._refresh_at = time.monotonic() + 1
            yield from self.incidents()
            if not frames and self._ends:
                return
            if not frames:
                self.wait()

    @property
    def _engine(self) -> Any:
        """What is there as long as the usage, self.pointer; ValueError when it was closed."""
        return self.pointer and self._culprit

    def _slowdowns(self, read: Any) -> tuple[Slowdown, ...]:
        raw = ffi.new("struct cmt_slowdown[]", _MOST)
        n = check(read(self._engine, raw, _MOST), "slowdown")
        return tuple(
            Slowdown(self._party(s.id), self._party(s.by), Resource(s.resource), _domain(s),
                     s.share, s.low, s.high, s.most, _number(s.cpus))
            for s in raw[0:n])

    def _party(self, owner: int) -> Party:
        if owner == lib.CMT_CULPRIT_OUTSIDE:
            return Party(RowKind.OUTSIDE, 0, None)
        kind = owner - lib.CMT_CULPRIT_NO_CGROUP
        if kind >= 0:
            return Party(RowKind(kind) if kind in _KINDS else RowKind.OWNER, 0, None)
        raw = lib.cmt_containers_find(lib.cmt_usage_containers(self.pointer), owner)
        return Party(RowKind.OWNER, owner, make_container(packed(raw)) if raw else None)

    def _incident(self, raw: Any) -> Incident:
        flags = raw.flags
        lost = bool(flags & lib.CMT_INCIDENT_LOST)
        parts = tuple(
            IncidentPart(self._party(p.by), Resource(p.resource), _domain(p), p.share,
                         p.held_bytes or None, p.lost_ns if lost else None)
            for p in raw.parts[0:raw.nr_parts])
        return Incident(
            raw.number, self._party(raw.id), bool(flags & lib.CMT_INCIDENT_OPEN),
            bool(flags & lib.CMT_INCIDENT_BEFORE), bool(flags & lib.CMT_INCIDENT_CLIPPED),
            raw.begin_ns, raw.end_ns, raw.share, raw.low, raw.high, raw.worst,
            raw.lost_ns if lost else None, _number(raw.cpi), _number(raw.mpki), parts,
            _number(raw.cpi_without), bool(flags & lib.CMT_INCIDENT_UNKNOWN))


def _new_usage(source: Any, is_recording: bool, counters: Flag) -> Any:
    store = ffi.new("struct cmt_usage **")
    opts = ffi.new("struct cmt_usage_opts *", {
        "sz": ffi.sizeof("struct cmt_usage_opts"),
        "recording" if is_recording else "device": source,
        "by": lib.CMT_USAGE_BY_CONTAINER,
        "flags": lib.CMT_USAGE_DOMAINS | lib.CMT_USAGE_BRIEF | lib.CMT_USAGE_WAITS,
        "interval_ns": 1_000_000,
        "slot_ns": 1_000_000,
        "counters": 0 if is_recording else counters,
    })
    check(lib.cmt_usage_new(store, opts), "usage")
    return store[0]


def _new_culprit(source: Device | Recording) -> Any:
    info = source.info
    store = ffi.new("struct cmt_culprit **")
    opts = ffi.new("struct cmt_culprit_opts *", {
        "sz": ffi.sizeof("struct cmt_culprit_opts"),
        "max_owners": min(max(8 * info.nr_rmids if info else 0, _ROOM[0]), _ROOM[1]),
        "unit_bytes": info.upscale_bytes if info else 0,
    })
    check(lib.cmt_culprit_new(store, opts), "slowdown")
    return ffi.gc(store[0], lib.cmt_culprit_free)


def _domain(raw: Any) -> int | None:
    return None if raw.resource == lib.CMT_SLOWDOWN_CPU else raw.domain


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
