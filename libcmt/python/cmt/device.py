# SPDX-License-Identifier: LGPL-2.1-or-later
"""The device: /dev/cmt, and its calls."""
import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from ._libcmt import ffi, lib
from .errors import Error, PatternError, check
from .handle import Source
from .types import (Backend, Flag, Owner, OwnerKind, ResctrlMode, Scope, Vendor,
                    c_text, make_owner, text)

PATH = "/dev/cmt"
RESCTRL_PATH = "/sys/fs/resctrl"


@dataclass(frozen=True)
class Info:
    """The module's description of itself when the device was opened."""

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
    ring_records: int  #: records in the largest ring
    ring_hold_ns: int  #: all rings hold at least so much time, when opened
    budget_ns: int  #: a tick reads for about this long at most
    idle_ticks: int  #: an RMID that did not run is read once in so many ticks
    interval_min_ns: int
    interval_max_ns: int
    limbo_ns: int  #: least time between two owners of an RMID
    l3_bytes: int | None  #: size of one L3 domain; None: unknown
    module_version: str
    mbm_reason: str  #: why MBM_TOTAL or MBM_LOCAL is missing, for people
    counters: Flag  #: CYCLES, ...: what was counted then: see Device.counters()
    perf_reason: str  #: why something asked for was not counted then, for people
    wait_reason: str  #: why the kernel never accounts WAITED, for people

    @property
    def emulated(self) -> bool:
        """True if values come from a model, not from hardware."""
        return self.backend == Backend.EMULATED


@dataclass(frozen=True)
class Stats:
    """The module's counters: nine of now, the others since it was loaded."""

    rmids_active: int  #: now: they have an owner
    rmids_limbo: int  #: now: freed, and not to be handed out yet
    rmids_free: int  #: now: can be handed out
    pending: int  #: now: owners that wait for an RMID
    readers: int  #: now: descriptors that mapped a ring
    cpus_online: int  #: now
    rmids_foreign: int  #: now: another agent uses them
    cpus_unread: int  #: now: online, and not sampled
    allocs: int
    frees: int
    alloc_fails: int  #: owners that became pending
    served: int  #: of these, got one later
    records: int  #: written to all rings
    ticks: int
    missed: int  #: ticks
    deferred: int  #: samples put off to a later tick
    samples: int
    switches: int  #: context switches to another process
    pqr_writes: int  #: a CPU's RMID was changed
    pqr_overwritten: int  #: an owner ran under another agent's RMID
    read_errors: int
    read_unavailable: int
    busy_ns: int  #: spent in ticks, all CPUs
    irqs_off_ns: int  #: the longest that interrupts were off
    lock_held_ns: int  #: the longest that the owner lock was held
    cpus_foreign: int  #: now: a resctrl group or another agent gave them an RMID
    rings_small: int  #: have fewer records than wanted: memory was short at load


@dataclass(frozen=True)
class Snapshot:
    """Owners at one instant, oldest first."""

    as_of_ns: int
    owners: tuple[Owner, ...]


@dataclass(frozen=True)
class Attached:
    """The RMID that Device.attach() gave; of a pending owner, the overflow RMID."""

    rmid: int
    generation: int


class Device(Source):
    """
    /dev/cmt, opened.

    path: another one than /dev/cmt.
    control: open it for writing: set_interval(), set_scope(), set_resctrl(),
    attach() and detach() take that, and CAP_PERFMON or CAP_SYS_ADMIN.

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
            raise _explained(os.fspath(path or PATH), name, -err,
                             lib.CMT_CALL_OPEN_CONTROL if control else lib.CMT_CALL_OPEN)
        self._hold(store[0])

    def _hold(self, pointer: Any) -> None:
        Source.__init__(self, pointer, lib.cmt_device_close)
        #: What the module, or resctrl, said of itself.
        self.info: Info = make_info(lib.cmt_device_info(pointer))

    def fileno(self) -> int:
        """The descriptor, for select and poll.  It stays the device's."""
        return int(lib.cmt_device_fd(self.pointer))

    def stats(self) -> Stats:
        """Read the module's counters now."""
        raw = ffi.new("struct cmt_stats *", {"size": ffi.sizeof("struct cmt_stats")})
        check(lib.cmt_device_stats(self.pointer, raw), "statistics")
        return Stats(**{f.name: int(getattr(raw, f.name))
                        for f in fields(Stats)})

    def snapshot(self) -> Snapshot:
        """The owners of RMIDs at this instant."""
        store = ffi.new("struct cmt_snapshot **")
        check(lib.cmt_device_snapshot(self.pointer, store), "snapshot")
        return _make_snapshot(ffi.gc(store[0], lib.cmt_snapshot_free))

    def pending(self) -> Snapshot:
        """
        The pending owners at this instant, and since when.

        They count in the overflow RMID.  Error: EAGAIN (more became pending
        whenever there was room for all).
        """
        store = ffi.new("struct cmt_snapshot **")
        check(lib.cmt_device_pending(self.pointer, store), "pending owners")
        return _make_snapshot(ffi.gc(store[0], lib.cmt_snapshot_free))

    def interval_ns(self) -> int:
        """The sampling interval in force."""
        store = ffi.new("uint32_t *")
        check(lib.cmt_device_interval(self.pointer, store), "interval")
        return int(store[0])

    def set_interval(self, interval_ns: int) -> None:
        """
        Set the sampling interval for all readers.

        interval_ns: info.interval_min_ns to info.interval_max_ns.
        Error: EBADF (not opened with control), EPERM (no CAP_PERFMON),
        EINVAL (out of range; nothing changed).
        """
        check(lib.cmt_device_set_interval(self.pointer, interval_ns),
              f"interval of {interval_ns} ns")

    def scope(self) -> Scope:
        """The scope now: which owners get RMIDs."""
        store = ffi.new("uint32_t *")
        check(lib.cmt_device_scope(self.pointer, store), "scope")
        return Scope(store[0])

    def set_scope(self, scope: Scope,
                  patterns: Sequence[str] | None = None) -> None:
        """
        Change the scope, for all readers: which owners get RMIDs.

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

    def resctrl(self) -> tuple[ResctrlMode, bool]:
        """Whose RMID a task in a resctrl group has; is resctrl mounted?  Now."""
        mode, mounted = ffi.new("uint32_t *"), ffi.new("_Bool *")
        check(lib.cmt_device_resctrl(self.pointer, mode, mounted), "resctrl")
        return ResctrlMode(mode[0]), bool(mounted[0])

    def set_resctrl(self, mode: ResctrlMode) -> None:
        """
        Change the resctrl mode, for all readers.

        Error: EBADF (not opened with control), EPERM (no CAP_PERFMON),
        EINVAL (unknown mode; nothing changed).
        """
        check(lib.cmt_device_set_resctrl(self.pointer, mode),
              f"resctrl {ResctrlMode(mode).name}")

    def counters(self) -> tuple[Flag, str]:
        """
        What the processor's counters count now, for all programs together.

        And why something that was asked for is not counted; "": nothing is missing.
        """
        store, reason = ffi.new("uint32_t *"), ffi.new("char[]", lib.CMT_REASON_LEN)
        check(lib.cmt_device_counters(self.pointer, store, reason), "counters")
        return Flag(store[0]), text(reason)

    def set_counters(self, counters: Flag) -> None:
        """
        Ask for Perf records with CYCLES, INSTRUCTIONS, LLC_MISSES, LLC_REFERENCES.

        Any of these, or Flag(0): none, until the device is closed.  Values are missing
        while other programs need the processor's counters, unless COUNTERS_FIRST is
        added.  What cannot be counted is no error.  Error: EINVAL (another flag, or no
        value), EPERM (COUNTERS_FIRST without CAP_PERFMON), ENOTTY (the module is older).
        """
        check(lib.cmt_device_set_counters(self.pointer, counters), "counters")

    def set_values(self, values: Flag) -> None:
        """
        Ask for OCCUPANCY, MBM_TOTAL, MBM_LOCAL, some of these, until the device is closed.

        A new device asks for all.  What nobody asks for is not read, and other readers
        may bring more.  Error: EINVAL (another flag, or none), ENOTTY (the module is
        older, and reads all).
        """
        check(lib.cmt_device_set_values(self.pointer, values), "values")

    def cgroup_path(self, cgroup_id: int) -> str:
        """
        Where a cgroup is, from the root of the v2 hierarchy; "/" is the root.

        Error: ENOENT (no such cgroup, or none below the caller's cgroup
        namespace).
        """
        room = ffi.new("char[]", 4096)
        check(lib.cmt_device_cgroup_path(self.pointer, cgroup_id, room, 4096),
              f"cgroup {cgroup_id}")
        return os.fsdecode(ffi.string(room))

    def patterns(self) -> list[str]:
        """Which cgroups are containers, in the order in which they are tried."""
        store = ffi.new("char **")
        check(lib.cmt_device_patterns(self.pointer, store), "patterns")
        return text(ffi.gc(store[0], lib.free)).split()

    def attach(self, kind: OwnerKind, number: int, *,
               children: bool = False) -> Attached:
        """
        Make a process, a cgroup or a CPU an owner, in any scope.

        number: process id, cgroup v2 inode number, or CPU number.
        children: with all processes that the process forks from now on.
        It goes before the pending owners of the scope, and is pending itself
        when no RMID is free.
        Error: EBADF (not opened with control), EPERM (no CAP_PERFMON), ESRCH,
        ENOENT, ENXIO (no such process, cgroup, CPU), EEXIST (it is attached),
        ENOSPC (too many are), EINVAL (another kind; children of no process).
        """
        attached = ffi.new("struct cmt_attached *",
                           {"sz": ffi.sizeof("struct cmt_attached")})
        check(lib.cmt_device_attach(self.pointer, kind, number,
                                    lib.CMT_ATTACH_CHILDREN if children else 0,
                                    attached), f"attaching {number}")
        return Attached(attached.rmid, attached.generation)

    def detach(self, kind: OwnerKind, number: int) -> None:
        """
        End an attachment.

        Error: EBADF, EPERM and EINVAL as attach(), ENOENT (it is not attached).
        """
        check(lib.cmt_device_detach(self.pointer, kind, number),
              f"detaching {number}")


class Resctrl(Device):
    """
    The groups of resctrl as a device, where the cmt module is not loaded.

    root: where resctrl is mounted; None: /sys/fs/resctrl.
    interval_ns: between readings; 0: 100 ms.
    scan_ns: between scans for groups; 0: 1 s.
    l3_bytes: the size of one L3 domain; 0: as /sys says.

    Each owner is a group: OwnerKind.RESCTRL; cgroup_path() gives its name.
    set_interval(), set_scope(), set_resctrl(), attach(), detach() and patterns()
    raise EOPNOTSUPP.  Nothing is written to resctrl, and nothing is mounted.

    Error: ENOENT (resctrl is not mounted there), EOPNOTSUPP (resctrl monitors no
    L3 cache), EACCES (its files may not be read), EINVAL (a time is out of range),
    or what open(2) says.
    """

    def __init__(self, root: str | os.PathLike[str] | None = None, *,
                 interval_ns: int = 0, scan_ns: int = 0, l3_bytes: int = 0) -> None:
        store = ffi.new("struct cmt_device **")
        name = ffi.NULL if root is None else ffi.new("char[]", c_text(root))
        opts = ffi.new("struct cmt_resctrl_opts *", {
            "sz": ffi.sizeof("struct cmt_resctrl_opts"), "root": name,
            "interval_ns": interval_ns, "scan_ns": scan_ns, "l3_bytes": l3_bytes})
        err = lib.cmt_resctrl_open(store, opts)
        if err:
            raise _explained(RESCTRL_PATH if root is None else os.fspath(root), name,
                             -err, lib.CMT_CALL_RESCTRL)
        self._hold(store[0])


def _explained(path: str, name: Any, err: int, call: int) -> Error:
    error = ffi.new("struct cmt_error *", {"sz": ffi.sizeof("struct cmt_error")})
    lib.cmt_error_explain(error, call, -err, name)
    said = f"{path}: {text(error.reason)}"
    if error.remedy[0] != b"\0":
        said += f". {text(error.remedy)}"
    return Error(err, said)


def make_info(raw: Any) -> Info:
    """Of a struct cmt_info."""
    numbers = {name: int(getattr(raw, name)) for name in (
        "instance", "nr_cpus", "nr_rmids", "rmids_usable", "upscale_bytes",
        "counter_bits", "ring_records", "interval_min_ns", "interval_max_ns",
        "limbo_ns", "ring_hold_ns", "budget_ns", "idle_ticks")}
    return Info(
        abi=(raw.abi_version >> 16, raw.abi_version & 0xFFFF),
        backend=Backend(raw.backend),
        reason=text(raw.reason),
        vendor=Vendor(raw.vendor),
        events=Flag(raw.events),
        l3_bytes=raw.l3_bytes or None,
        module_version=text(raw.module_version),
        mbm_reason=text(raw.mbm_reason),
        counters=Flag(raw.counters),
        perf_reason=text(raw.perf_reason),
        wait_reason=text(raw.wait_reason),
        **numbers,
    )


def _make_snapshot(raw: Any) -> Snapshot:
    owners = []
    store = ffi.new("struct cmt_owner *", {"sz": ffi.sizeof("struct cmt_owner")})
    for i in range(raw.count):
        check(lib.cmt_record_owner(lib.cmt_snapshot_at(raw, i), store),
              "snapshot")
        owner = make_owner(store)
        assert owner
        owners.append(owner)
    return Snapshot(raw.as_of, tuple(owners))
