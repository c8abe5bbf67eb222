# SPDX-License-Identifier: LGPL-2.1-or-later
"""The device: /dev/cmt opened, and what it answers without a ring."""
import errno
import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from ._libcmt import ffi, lib
from .errors import Error, PatternError, check
from .handle import Handle
from .types import (Backend, Flag, Owner, OwnerKind, Scope, Vendor, c_text,
                    make_owner, text)

PATH = "/dev/cmt"

_WHY = {
    errno.ENOENT: "not there: the cmt module is not loaded (modprobe cmt)",
    errno.EACCES: "permission denied: root and the device's group may open it",
    errno.ENOTTY: "not a cmt device",
    errno.EPROTO: "the module's answers contradict each other",
}


@dataclass(frozen=True)
class Info:
    """What the module said of itself when the device was opened."""

    abi: tuple[int, int]  #: major and minor version
    backend: Backend
    reason: str  #: why this backend, for people
    vendor: Vendor
    instance: int  #: random, another one whenever the module is loaded
    nr_cpus: int  #: CPU numbers are below this
    nr_rmids: int  #: RMID numbers are below this
    rmids_usable: int  #: how many can have an owner at once
    events: Flag  #: OCCUPANCY, MBM_TOTAL, MBM_LOCAL: what there is
    upscale_bytes: int  #: bytes per unit of the counters
    counter_bits: int  #: width of the traffic counters
    ring_records: int  #: records in one CPU's ring
    interval_min_ns: int
    interval_max_ns: int
    limbo_ns: int  #: least time between two owners of an RMID
    l3_bytes: int | None  #: size of one L3 domain; None: unknown
    module_version: str

    @property
    def emulated(self) -> bool:
        """Do values come from a model?"""
        return self.backend == Backend.EMULATED


@dataclass(frozen=True)
class Stats:
    """The module's counters: seven of now, the others since it was loaded."""

    rmids_active: int  #: now: they have an owner
    rmids_limbo: int  #: now: freed less than limbo_ns ago
    rmids_free: int  #: now: can be handed out
    waiting: int  #: now: owners that wait for an RMID
    readers: int  #: now: descriptors that mapped a ring
    cpus_online: int  #: now
    rmids_foreign: int  #: now: another agent uses them
    allocs: int
    frees: int
    alloc_fails: int  #: owners that had to wait
    served: int  #: of these, got one later
    records: int  #: written to all rings
    ticks: int
    missed: int  #: ticks
    deferred: int  #: samples put off to a later tick
    samples: int
    switches: int  #: context switches seen
    pqr_writes: int  #: a CPU's RMID was changed
    pqr_overwritten: int  #: an owner ran under another agent's RMID
    read_errors: int
    read_unavailable: int
    busy_ns: int  #: spent in ticks, all CPUs


@dataclass(frozen=True)
class Snapshot:
    """Owners at one instant, oldest first."""

    as_of_ns: int
    owners: tuple[Owner, ...]


@dataclass(frozen=True)
class Attached:
    """The RMID that Device.attach() gave; while the owner waits, the rest's."""

    rmid: int
    generation: int


class Device(Handle):
    """
    /dev/cmt, opened.

    path: another one than /dev/cmt.
    control: open it for writing: set_interval(), set_scope(), attach() and
    detach() take that, and CAP_PERFMON or CAP_SYS_ADMIN.

    Error: ENOENT (the module is not loaded), EACCES (not in the group that owns
    the device), ENOTTY (not a cmt device), EPROTONOSUPPORT (the module is of
    another major version of the ABI), EPROTO (its answers contradict each
    other), or what open(2) says.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *,
                 control: bool = False) -> None:
        store = ffi.new("struct cmt_device **")
        name = c_text(path)
        err = lib.cmt_device_open(store, name,
                                  lib.CMT_OPEN_CONTROL if control else 0)
        if err:
            raise _open_error(os.fspath(path or PATH), name, -err)
        super().__init__(store[0], lib.cmt_device_close)
        #: What the module said of itself.
        self.info: Info = _make_info(lib.cmt_device_info(store[0]))
        self._reader: weakref.ref[Handle] | None = None

    def close(self) -> None:
        """Close the device, and its reader before it."""
        reader = self._reader and self._reader()
        if reader:
            reader.close()
        super().close()

    def fileno(self) -> int:
        """The descriptor, for select and poll.  It stays the device's."""
        return int(lib.cmt_device_fd(self.pointer))

    def stats(self) -> Stats:
        """Read the module's counters now."""
        raw = ffi.new("struct cmt_stats *")
        check(lib.cmt_device_stats(self.pointer, raw), "statistics")
        return Stats(**{f.name: int(getattr(raw, f.name))
                        for f in fields(Stats)})

    def snapshot(self) -> Snapshot:
        """Who has an RMID at this instant."""
        store = ffi.new("struct cmt_snapshot **")
        check(lib.cmt_device_snapshot(self.pointer, store), "snapshot")
        return _make_snapshot(ffi.gc(store[0], lib.free))

    def waiting(self) -> Snapshot:
        """
        Who waits for an RMID at this instant, and since when.

        They count in the RMID of the rest.  Error: EAGAIN (more came to wait
        whenever there was room for all).
        """
        store = ffi.new("struct cmt_snapshot **")
        check(lib.cmt_device_waiting(self.pointer, store), "who waits")
        return _make_snapshot(ffi.gc(store[0], lib.free))

    def interval_ns(self) -> int:
        """The sampling interval in force."""
        store = ffi.new("uint32_t *")
        check(lib.cmt_device_interval(self.pointer, store), "interval")
        return int(store[0])

    def set_interval(self, interval_ns: int) -> None:
        """
        Set the sampling interval for everybody.

        interval_ns: info.interval_min_ns to info.interval_max_ns.
        Error: EBADF (not opened with control), EPERM (no CAP_PERFMON),
        EINVAL (out of range; nothing changed).
        """
        check(lib.cmt_device_set_interval(self.pointer, interval_ns),
              f"interval of {interval_ns} ns")

    def scope(self) -> Scope:
        """What an RMID's owner is, now."""
        store = ffi.new("uint32_t *")
        check(lib.cmt_device_scope(self.pointer, store), "scope")
        return Scope(store[0])

    def set_scope(self, scope: Scope,
                  patterns: Sequence[str] | None = None) -> None:
        """
        Change for everybody what RMIDs are given to.

        All owners lose theirs, and what was attached is forgotten.
        patterns: which cgroups are containers, see cmt(4); None: those in force.
        PatternError: they are wrong.  Error: EBADF (not opened with control),
        EPERM (no CAP_PERFMON), EINVAL (unknown scope).  Nothing changed then.
        """
        bad_at = ffi.new("uint32_t *")
        joined = None if patterns is None else "\n".join(patterns)
        err = lib.cmt_device_set_scope(self.pointer, scope, c_text(joined),
                                       bad_at)
        if err == -errno.EINVAL and bad_at[0] != 0xFFFFFFFF:
            raise PatternError(-err, f"patterns: wrong at byte {bad_at[0]}",
                               int(bad_at[0]))
        check(err, f"scope {Scope(scope).name}")

    def patterns(self) -> list[str]:
        """Which cgroups are containers, in the order in which they are tried."""
        store = ffi.new("char **")
        check(lib.cmt_device_patterns(self.pointer, store), "patterns")
        return text(ffi.gc(store[0], lib.free)).split()

    def attach(self, kind: OwnerKind, number: int, *,
               children: bool = False) -> Attached:
        """
        Give an owner of its own to a process, a cgroup or a CPU, in any scope.

        number: process id, cgroup v2 inode number, or CPU number.
        children: with all processes that the process forks from now on.
        It goes before those who wait, and waits itself when no RMID is free.
        Error: EBADF (not opened with control), EPERM (no CAP_PERFMON), ESRCH,
        ENOENT, ENXIO (no such process, cgroup, CPU), EEXIST (it is attached),
        ENOSPC (too many are), EINVAL (another kind; children of no process).
        """
        attached = ffi.new("struct cmt_attached *")
        check(lib.cmt_device_attach(self.pointer, kind, number,
                                    lib.CMT_ATTACH_CHILDREN if children else 0,
                                    attached), f"attaching {number}")
        return Attached(attached.rmid, attached.generation)

    def detach(self, kind: OwnerKind, number: int) -> None:
        """
        The end of that.

        Error: EBADF, EPERM and EINVAL as attach(), ENOENT (it is not attached).
        """
        check(lib.cmt_device_detach(self.pointer, kind, number),
              f"detaching {number}")

    def adopt(self, reader: Handle) -> None:
        """The reader to be closed before the device."""
        self._reader = weakref.ref(reader)


def _open_error(path: str, name: Any, err: int) -> Error:
    why = _WHY.get(err, os.strerror(err))
    abi = ffi.new("uint32_t *")
    if err == errno.EPROTONOSUPPORT and not lib.cmt_device_abi(name, abi):
        ours = lib.CMT_ABI_VERSION
        why = (f"the module speaks ABI {abi[0] >> 16}.{abi[0] & 0xFFFF}, this "
               f"library {ours >> 16}.{ours & 0xFFFF}: install both of one release")
    return Error(err, f"{path}: {why}")


def _make_info(raw: Any) -> Info:
    numbers = {name: int(getattr(raw, name)) for name in (
        "instance", "nr_cpus", "nr_rmids", "rmids_usable", "upscale_bytes",
        "counter_bits", "ring_records", "interval_min_ns", "interval_max_ns",
        "limbo_ns")}
    return Info(
        abi=(raw.abi_version >> 16, raw.abi_version & 0xFFFF),
        backend=Backend(raw.backend),
        reason=text(raw.reason),
        vendor=Vendor(raw.vendor),
        events=Flag(raw.events),
        l3_bytes=raw.l3_bytes or None,
        module_version=text(raw.module_version),
        **numbers,
    )


def _make_snapshot(raw: Any) -> Snapshot:
    owners = []
    store = ffi.new("struct cmt_owner *")
    for i in range(raw.count):
        check(lib.cmt_record_owner(ffi.addressof(raw.records[i]), store),
              "snapshot")
        owner = make_owner(store)
        assert owner
        owners.append(owner)
    return Snapshot(raw.as_of, tuple(owners))
