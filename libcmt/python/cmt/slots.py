# SPDX-License-Identifier: LGPL-2.1-or-later
"""Time slots: readings in windows of equal length, with their owners, by column."""
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from ._libcmt import ffi, lib
from .columns import Block, Cache, Column, Columns
from .device import Device
from .errors import check
from .handle import Handle
from .reader import Reader
from .types import Owner, make_owner


class Entries(Columns):
    """
    The readings of a slot: one row for each RMID in each L3 domain.

    Rows are by RMID, domain and generation.  Bytes that were not measured are -1,
    and flags (Flag) say why.  samples 0: no value was read in the slot; the
    values are those of the last sample, from ts_ns, before the slot.
    """

    layout = "struct entry_columns"
    rmid = Column()
    generation = Column()
    domain = Column()
    samples = Column()  #: in the slot; 0: the values are older than the slot
    ts_ns = Column()  #: of the last sample
    flags = Column()  #: Flag
    cpu = Column()  #: that read the sample
    occupancy_bytes = Column()  #: the last in the slot
    residual_bytes = Column()  #: of it: left by owners before, at most
    mbm_total_bytes = Column()  #: since the RMID was handed out
    mbm_local_bytes = Column()
    owner = Column()  #: place in Slot.owners; -1: RMID 0, or the owner is not known
    cgroup_id = Column()  #: of the owner; 0: none
    pid = Column()  #: of the owner, if it is a process; else 0


class SlotCpus(Columns):
    """The ticks of CPUs in a slot: one row for each CPU."""

    layout = "struct cpu_columns"
    cpu = Column()
    domain = Column()
    ticks = Column()
    busy_ticks = Column()  #: of these, with an RMID other than 0
    rmid = Column()  #: at the last tick
    generation = Column()
    flags = Column()  #: Flag, of any tick
    interval_ns = Column()
    missed = Column()  #: this and what follows: since the module was loaded
    deferred = Column()
    busy_ns = Column()
    read = Column()  #: RMIDs read in the last tick
    waiting = Column()  #: RMIDs due in the last tick and not read
    owner = Column()  #: of rmid: place in Slot.owners; -1: none, or not known


class _Owners:
    """Owners of slots: mostly those of the slot before."""

    def __init__(self) -> None:
        self._cache: Cache[Owner] = Cache(_owner)
        self._last: tuple[int, tuple[Owner, ...]] = (0, ())

    def of(self, block: Block) -> tuple[Owner, ...]:
        """The owners in a block, the same objects again where nothing has changed."""
        serial, owners = self._last
        if serial != block.head.owners_serial:
            owners = tuple(self._cache.take(_keys(block)))
            self._last = (block.head.owners_serial, owners)
        return owners


def _keys(block: Block) -> Iterator[bytes]:
    size = ffi.sizeof("struct cmt_owner")
    at = block.head.owners_at
    for i in range(block.head.nr_owners):
        yield bytes(block.data[at + i * size:at + (i + 1) * size])


def _owner(key: bytes) -> Owner:
    owner = make_owner(ffi.from_buffer("struct cmt_owner *", key))
    assert owner
    return owner


class Slot:
    """The records from start_ns on and before end_ns."""

    def __init__(self, block: Block, owners: _Owners) -> None:
        head = block.head
        self._block, self._all = block, owners
        self._owners: tuple[Owner, ...] | None = None
        self.start_ns: int = head.start_ns
        self.end_ns: int = head.end_ns
        #: Records that were overwritten before they were read.
        self.lost: int = head.lost
        #: CPUs of which records in this slot's time are lost: it may lack readings.
        self.gaps: int = head.gaps
        self.entries = Entries(block, head.entries_at, head.nr_entries)
        self.cpus = SlotCpus(block, head.cpus_at, head.nr_cpus)

    @property
    def owners(self) -> tuple[Owner, ...]:
        """The owners that the columns owner are indexes of."""
        if self._owners is None:
            self._owners = self._all.of(self._block)
        return self._owners


@dataclass(frozen=True)
class SlotCounts:
    """The numbers of added and of skipped records."""

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
        self._owners = _Owners()
        self._wait_ms = max(1, slot_ns // 1_000_000)
        store = ffi.new("struct slot_queue **")
        opts = ffi.new("struct cmt_slots_opts *", {
            "sz": ffi.sizeof("struct cmt_slots_opts"),
            "slot_ns": slot_ns,
            "window": window,
            "nr_rmids": device.info.nr_rmids,
            "nr_cpus": device.info.nr_cpus,
        })
        check(lib.slot_queue_new(store, opts), "slots")
        super().__init__(store[0], lib.slot_queue_free)

    def feed(self, reader: Reader) -> list[Slot]:
        """
        Take what is ready until it retires slots, and return these, in order.

        Does not block; none: nothing more is ready, or it takes long.  A program
        that waits for Device.fileno() calls this until there is none.  Error: as
        Reader.read(), Device.snapshot(), or ENOMEM.
        """
        self._feed(reader)
        return list(self._take())

    def follow(self, reader: Reader) -> Iterator[Slot]:
        """Yield slots in order, without end, as they are retired; wait meanwhile."""
        while True:
            count = self._feed(reader)
            yield from self._take()
            if not count:
                reader.wait(self._wait_ms)

    def flush(self) -> list[Slot]:
        """Retire all open slots.  Records for them are late from then on."""
        check(lib.cmt_slots_flush(self._slots()), "flush")
        return list(self._take())

    def owner(self, rmid: int, ts_ns: int) -> Owner | None:
        """
        Who owned an RMID at a time, or did last before it; None: not known.

        ts_ns: not before the last slot that was retired.
        """
        return make_owner(lib.cmt_tracker_lookup(
            lib.cmt_slots_tracker(self._slots()), rmid, ts_ns))

    def counts(self) -> SlotCounts:
        """The numbers of added and of skipped records."""
        raw = ffi.new("struct cmt_slots_counts *",
                      {"sz": ffi.sizeof("struct cmt_slots_counts")})
        check(lib.cmt_slots_counts(self._slots(), raw), "counts")
        return SlotCounts(**{f.name: int(getattr(raw, f.name))
                             for f in fields(SlotCounts)})

    def _slots(self) -> Any:
        return lib.slot_queue_slots(self.pointer)

    def _feed(self, reader: Reader) -> int:
        return check(lib.slot_queue_feed(self.pointer, reader.pointer), "feed")

    def _take(self) -> Iterator[Slot]:
        """What is not taken stays for the next call."""
        while block := lib.slot_queue_take(self.pointer):
            yield Slot(Block(block), self._owners)
