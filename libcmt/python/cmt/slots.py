# SPDX-License-Identifier: LGPL-2.1-or-later
"""Time slots: records folded into windows of equal length, with their owners."""
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from ._libcmt import ffi, lib
from .device import Device
from .errors import check
from .handle import Handle
from .reader import Reader
from .types import Flag, Owner, make_owner, measured


@dataclass(frozen=True)
class Entry:
    """One RMID in one L3 domain in one slot.  None: not measured."""

    rmid: int
    generation: int
    domain: int
    samples: int  #: in the slot
    ts_ns: int  #: of the last of them
    flags: Flag
    occupancy_bytes: int | None  #: the last in the slot
    residual_bytes: int | None  #: of it: left by owners before, at most
    mbm_total_bytes: int | None  #: since the RMID was handed out
    mbm_local_bytes: int | None
    owner: Owner | None  #: None: RMID 0, or nobody is known

    @property
    def emulated(self) -> bool:
        """Do the values come from a model?"""
        return Flag.EMULATED in self.flags


@dataclass(frozen=True)
class SlotCpu:
    """What one CPU said in one slot."""

    cpu: int
    domain: int
    ticks: int
    busy_ticks: int  #: of these, with an RMID other than 0
    rmid: int  #: at the last tick
    generation: int
    flags: Flag  #: of any tick
    interval_ns: int
    missed: int  #: this and what follows: since the module was loaded
    deferred: int
    busy_ns: int
    samples: int
    owner: Owner | None  #: of rmid


@dataclass(frozen=True)
class Slot:
    """What was recorded from start_ns on and before end_ns."""

    start_ns: int
    end_ns: int
    lost: int  #: records that were overwritten before they were read
    entries: tuple[Entry, ...]  #: by RMID, domain, generation
    cpus: tuple[SlotCpu, ...]  #: by CPU


@dataclass(frozen=True)
class SlotCounts:
    """What became of the records that were fed."""

    added: int
    late: int  #: their slot was retired already
    malformed: int
    unknown: int  #: of a type that this library does not know
    retired: int  #: slots


class Slots(Handle):
    """
    Slots of slot_ns, of which window are open at once.

    A record newer than all of them retires the oldest, which is handed out once.
    device: whose owners they are; a reader of it asks it for them, at the start
    and whenever records were missed.
    slot_ns: 10 us to 10 s.  window: 2 to 64.
    Error: EINVAL (out of range), ENOMEM.
    """

    def __init__(self, device: Device, *, slot_ns: int = 1_000_000,
                 window: int = 4) -> None:
        self._retired: list[Slot] = []
        self._failed: BaseException | None = None
        self._handle = ffi.new_handle(self)
        self._wait_ms = max(1, slot_ns // 1_000_000)
        store = ffi.new("struct cmt_slots **")
        opts = ffi.new("struct cmt_slots_opts *", {
            "sz": ffi.sizeof("struct cmt_slots_opts"),
            "slot_ns": slot_ns,
            "window": window,
            "nr_rmids": device.info.nr_rmids,
            "nr_cpus": device.info.nr_cpus,
        })
        check(lib.cmt_slots_new(store, opts, lib.retired, self._handle),
              "slots")
        super().__init__(store[0], lib.cmt_slots_free)

    def feed(self, reader: Reader) -> list[Slot]:
        """
        Take a batch of the records that are ready.  Does not block.

        The slots that were retired by them, in order.  Error: as Reader.read(),
        Device.snapshot(), or ENOMEM.
        """
        self._feed(reader)
        return self._take()

    def follow(self, reader: Reader) -> Iterator[Slot]:
        """Slots without end, in order, as they are retired; waits meanwhile."""
        while True:
            count = self._feed(reader)
            yield from self._take()
            if not count:
                reader.wait(self._wait_ms)

    def flush(self) -> list[Slot]:
        """Retire all open slots.  Records for them are late from then on."""
        lib.cmt_slots_flush(self.pointer)
        return self._take()

    def owner(self, rmid: int, ts_ns: int) -> Owner | None:
        """
        Who owned an RMID at a time, or did last before it; None: not known.

        ts_ns: not before the last slot that was retired.
        """
        return make_owner(lib.cmt_tracker_lookup(
            lib.cmt_slots_tracker(self.pointer), rmid, ts_ns))

    def counts(self) -> SlotCounts:
        """What became of the records that were fed."""
        raw = ffi.new("struct cmt_slots_counts *")
        lib.cmt_slots_counts(self.pointer, raw)
        return SlotCounts(**{f.name: int(getattr(raw, f.name))
                             for f in fields(SlotCounts)})

    def _feed(self, reader: Reader) -> int:
        return check(lib.cmt_reader_feed(reader.pointer, self.pointer), "feed")

    def _take(self) -> list[Slot]:
        failed, self._failed = self._failed, None
        if failed:
            raise failed
        slots, self._retired = self._retired, []
        return slots

    def retire(self, raw: Any) -> None:
        """Called through the library, which an exception must not cross."""
        try:
            self._retired.append(_make_slot(raw))
        except BaseException as error:  # pylint: disable=broad-except
            self._failed = error


@ffi.def_extern()  # type: ignore[misc]
def retired(ctx: Any, raw: Any) -> None:
    """The library's callback: its context is the Slots."""
    ffi.from_handle(ctx).retire(raw)


def _make_entry(raw: Any) -> Entry:
    flags = Flag(raw.flags)
    return Entry(
        raw.rmid, raw.generation, raw.domain, raw.samples, raw.ts, flags,
        measured(flags, Flag.OCCUPANCY, raw.occupancy_bytes),
        measured(flags, Flag.RESIDUAL, raw.residual_bytes),
        measured(flags, Flag.MBM_TOTAL, raw.mbm_total_bytes),
        measured(flags, Flag.MBM_LOCAL, raw.mbm_local_bytes),
        make_owner(raw.owner))


def _make_cpu(raw: Any) -> SlotCpu:
    return SlotCpu(
        raw.cpu, raw.domain, raw.ticks, raw.busy_ticks, raw.rmid,
        raw.generation, Flag(raw.flags), raw.interval_ns, raw.missed,
        raw.deferred, raw.busy_ns, raw.samples, make_owner(raw.owner))


def _make_slot(raw: Any) -> Slot:
    return Slot(
        raw.start_ns, raw.end_ns, raw.lost,
        tuple(_make_entry(raw.entries[i]) for i in range(raw.nr_entries)),
        tuple(_make_cpu(raw.cpus[i]) for i in range(raw.nr_cpus)))
