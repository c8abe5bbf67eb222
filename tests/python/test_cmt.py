# SPDX-License-Identifier: GPL-2.0-or-later
"""The package cmt, as it ships, on the device of stream.c in a libcmt.so.1."""
import ctypes
import errno
import gc
import itertools
import math
import mmap
import os
import select
import subprocess
import sys
import tempfile
import threading
import traceback
import unittest
import weakref
from unittest import mock

import cmt

try:
    import numpy
except ImportError:
    numpy = None

FAKE = ctypes.CDLL("libcmt.so.1")
U32 = ctypes.c_uint32
U64 = ctypes.c_uint64
T0 = 5_000_000_000
MS = 1_000_000
MIB = 1 << 20
MAP_FIXED_NOREPLACE = 0x100000
EVENTS = cmt.Flag.OCCUPANCY | cmt.Flag.MBM_TOTAL | cmt.Flag.MBM_LOCAL
VALUES = EVENTS | cmt.Flag.RESIDUAL
COUNTERS = (cmt.Flag.CYCLES | cmt.Flag.INSTRUCTIONS | cmt.Flag.LLC_MISSES |
            cmt.Flag.LLC_REFERENCES)


class Attach(ctypes.Structure):
    """struct cmt_attach"""

    _fields_ = [("size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("kind", ctypes.c_uint32), ("options", ctypes.c_uint32),
                ("id", U64)]


FAKE.test_attach.restype = ctypes.POINTER(Attach)


def tick(cpu, ts):
    FAKE.test_tick(cpu, U64(ts))


def sample(cpu, ts, rmid, flags=VALUES, values=(4 * MIB, 300, 200, 100)):
    FAKE.test_sample(cpu, U64(ts), rmid, 10 * rmid, int(flags), (U64 * 4)(*values))


def perf(cpu, ts, rmid, flags=COUNTERS, values=(1000, 500, 5, 8, 2048, MS // 2)):
    FAKE.test_perf(cpu, U64(ts), rmid, 10 * rmid, int(flags), (U64 * 6)(*values))


def event(kind, cpu, ts, rmid, flags=0):
    FAKE.test_event(int(kind), cpu, U64(ts), rmid, 10 * rmid, int(flags))


class FakeCase(unittest.TestCase):
    """Two CPUs with rings of 64 records, and 64 RMIDs."""

    def setUp(self):
        FAKE.test_setup(2, 64)
        FAKE.test_now(U64(T0))
        self.addCleanup(FAKE.test_teardown)

    def open(self, **options):
        device = cmt.Device(**options)
        self.addCleanup(device.close)
        return device

    def in_child(self, call):
        """call() in a child of fork(2), which does not fail there."""
        ours, theirs = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                call()
            except BaseException:  # pylint: disable=broad-exception-caught
                os.write(theirs, traceback.format_exc().encode())
            finally:
                os._exit(0)
        os.close(theirs)
        with open(ours, encoding="utf-8") as said:
            failed = said.read()
        self.assertFalse(failed, failed)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def raises(self, number, call, *args, **options):
        with self.assertRaises(cmt.Error) as caught:
            call(*args, **options)
        self.assertEqual(caught.exception.errno, number)
        return caught.exception


class DeviceTest(FakeCase):
    def test_info(self):
        FAKE.test_info(2, U64(0))
        info = self.open().info
        self.assertEqual(info.abi, (2, 0))
        self.assertIs(info.backend, cmt.Backend.EMULATED)
        self.assertTrue(info.emulated)
        self.assertEqual(info.reason, "test")
        self.assertEqual(info.module_version, "0.1.0")
        self.assertEqual(info.instance, 0x1122334455667788)
        self.assertEqual((info.nr_cpus, info.nr_rmids), (2, 64))
        self.assertEqual((info.rmids_usable, info.ring_records), (63, 64))
        self.assertEqual(info.events, cmt.Flag.OCCUPANCY)
        self.assertEqual((info.upscale_bytes, info.counter_bits), (1024, 24))
        self.assertEqual(info.interval_min_ns, 100_000)
        self.assertEqual(info.interval_max_ns, 1_000_000_000)
        self.assertEqual(info.limbo_ns, 2 * MS)
        self.assertEqual((info.ring_hold_ns, info.budget_ns), (2000 * MS, 20_000))
        self.assertEqual((info.idle_ticks, info.mbm_reason, info.wait_reason), (32, "", ""))
        self.assertIsNone(info.l3_bytes)

    def test_hardware(self):
        FAKE.test_info(1, U64(32 * MIB))
        info = self.open().info
        self.assertFalse(info.emulated)
        self.assertEqual(info.l3_bytes, 32 * MIB)

    def test_software(self):
        FAKE.test_info(3, U64(0))
        info = self.open().info
        self.assertIs(info.backend, cmt.Backend.SOFTWARE)
        self.assertFalse(info.emulated)

    def test_open_says_why(self):
        for number, says in ((errno.ENOENT, "modprobe cmt"),
                             (errno.EACCES, "permission denied"),
                             (errno.EMFILE, os.strerror(errno.EMFILE))):
            FAKE.test_fail(number, 0, 0)
            error = self.raises(number, cmt.Device)
            self.assertIsInstance(error, OSError)
            self.assertIn("/dev/cmt: ", error.strerror)
            self.assertIn(says, error.strerror)
        FAKE.test_fail(0, errno.ENOTTY, 0)
        self.assertIn("not a cmt device", self.raises(errno.ENOTTY, cmt.Device).strerror)

    def test_other_abi(self):
        FAKE.test_abi(0x30003)
        error = self.raises(errno.EPROTONOSUPPORT, cmt.Device)
        self.assertIn("the module speaks ABI 3.3, this library ABI 2.0", error.strerror)

    def test_other_path(self):
        with tempfile.NamedTemporaryFile() as file:
            FAKE.test_fail(0, errno.ENOTTY, 0)
            self.assertIn(file.name, self.raises(errno.ENOTTY, cmt.Device, file.name).strerror)
        self.raises(errno.ENOENT, cmt.Device, "/nonexistent/cmt")
        with self.assertRaises(ValueError):
            cmt.Device("/dev/cmt\0x")

    def test_close(self):
        with cmt.Device() as device:
            self.assertGreaterEqual(device.fileno(), 0)
            os.fstat(number := device.fileno())
        with self.assertRaises(OSError):
            os.fstat(number)
        device.close()
        for call in (device.fileno, device.stats, device.snapshot, device.scope):
            with self.assertRaisesRegex(ValueError, "Device is closed"):
                call()
        self.assertEqual(device.info.nr_cpus, 2)

    def test_collected(self):
        device = cmt.Device()
        number = device.fileno()
        del device
        gc.collect()
        with self.assertRaises(OSError):
            os.fstat(number)

    def test_fileno(self):
        poll = select.poll()
        poll.register(self.open(), select.POLLIN)
        poll.poll(0)

    def test_stats(self):
        stats = self.open().stats()
        self.assertEqual((stats.allocs, stats.busy_ns, stats.lock_held_ns), (0, 0, 0))
        FAKE.test_fail(0, errno.EIO, 0)
        self.assertIn("statistics", self.raises(errno.EIO, cmt.Device.stats, self.device()).strerror)

    def device(self):
        FAKE.test_fail(0, 0, 0)
        device = self.open()
        FAKE.test_fail(0, errno.EIO, 0)
        return device

    def test_snapshot(self):
        FAKE.test_existing(U64(T0 - 9), 3, 30, 0)
        FAKE.test_existing(U64(T0 - 8), 4, 40, int(cmt.Flag.OWNER_CGROUP | cmt.Flag.ATTACHED |
                                                   cmt.Flag.RESIDUAL))
        FAKE.test_existing(U64(T0 - 7), 5, 50, int(cmt.Flag.OWNER_CPU))
        FAKE.test_existing(U64(T0 - 6), 6, 60, int(cmt.Flag.OWNER_OVERFLOW))
        FAKE.test_existing(U64(T0 - 5), 7, 70, int(cmt.Flag.OWNER_RESCTRL))
        group = cmt.Flag.OWNER_RESCTRL
        FAKE.test_existing(U64(T0 - 4), 8, 80, int(group | cmt.Flag.OWNER_CPU))
        FAKE.test_existing(U64(T0 - 3), 9, 90,
                           int(group | cmt.Flag.GROUP_SOLE | cmt.Flag.OWNER_CGROUP))
        FAKE.test_as_of(U64(T0 - 1))
        snapshot = self.open().snapshot()
        self.assertEqual(snapshot.as_of_ns, T0 - 1)
        process, cgroup, cpu, overflow, resctrl, on_cpu, sole = snapshot.owners
        self.assertEqual(process, cmt.Owner(
            kind=cmt.OwnerKind.PROCESS, rmid=3, generation=30, since_ns=T0 - 9,
            until_ns=None, pid=1003, cpu=None, cgroup_id=7003,
            residual_bytes=None, attached=False, comm="name"))
        self.assertEqual((cgroup.kind, cgroup.attached), (cmt.OwnerKind.CGROUP, True))
        self.assertEqual(cgroup.residual_bytes, 0)
        self.assertEqual((cgroup.pid, cgroup.cgroup_id), (None, 7004))
        self.assertEqual((cpu.kind, cpu.cpu, cpu.pid), (cmt.OwnerKind.CPU, 1005, None))
        self.assertEqual(overflow.kind, cmt.OwnerKind.OVERFLOW)
        self.assertEqual((resctrl.kind, resctrl.pid), (cmt.OwnerKind.RESCTRL, None))
        self.assertEqual((resctrl.group_tid, resctrl.group_cpu), (1007, None))
        self.assertEqual((on_cpu.kind, on_cpu.cpu), (cmt.OwnerKind.RESCTRL, None))
        self.assertEqual((on_cpu.group_tid, on_cpu.group_cpu), (None, 1008))
        self.assertEqual((sole.kind, sole.sole, sole.cgroup_id),
                         (cmt.OwnerKind.CGROUP, True, 7009))
        self.assertFalse(cgroup.sole)

    def test_pending(self):
        FAKE.test_pending(U64(T0 - 5), 0)
        FAKE.test_pending(U64(T0 - 4), int(cmt.Flag.OWNER_CGROUP | cmt.Flag.SERVICE))
        owner, unit = self.open().pending().owners
        self.assertEqual((owner.service, unit.service), (False, True))
        self.assertEqual((owner.since_ns, owner.rmid, owner.pid), (T0 - 5, 9, 1009))
        self.assertIs(owner.why, cmt.Why.RECLAIMED)
        self.assertIsNone(owner.residual_bytes)

    def test_interval(self):
        device = self.open(control=True)
        self.assertEqual(device.interval_ns(), MS)
        device.set_interval(2 * MS)
        self.assertEqual(FAKE.test_interval(), 2 * MS)
        self.assertEqual(device.interval_ns(), 2 * MS)
        error = self.raises(errno.EINVAL, device.set_interval, 1)
        self.assertIn("interval of 1 ns", error.strerror)
        with self.assertRaises(OverflowError):
            device.set_interval(1 << 32)
        self.raises(errno.EBADF, self.open().set_interval, MS)

    def test_open_mode(self):
        self.open()
        self.assertEqual(FAKE.test_open_flags() & os.O_ACCMODE, os.O_RDONLY)
        self.open(control=True)
        self.assertEqual(FAKE.test_open_flags() & os.O_ACCMODE, os.O_RDWR)

    def test_scope(self):
        device = self.open(control=True)
        self.assertIs(device.scope(), cmt.Scope.PROCESS)
        device.set_scope(cmt.Scope.CONTAINER)
        self.assertIs(device.scope(), cmt.Scope.CONTAINER)
        self.assertEqual(device.patterns(), ["docker-<id>.scope", "!x"])
        device.set_scope(cmt.Scope.CONTAINER, ["a-<id>", "b"])
        self.assertEqual(device.patterns(), ["a-<id>", "b"])
        self.raises(errno.EBADF, self.open().set_scope, cmt.Scope.CPU)

    def test_wrong_scope(self):
        device = self.open(control=True)
        error = self.raises(errno.EINVAL, device.set_scope, 77)
        self.assertNotIsInstance(error, cmt.PatternError)
        FAKE.test_bad_at(9)
        error = self.raises(errno.EINVAL, device.set_scope, cmt.Scope.CPU, ["x", "y"])
        self.assertIsInstance(error, cmt.PatternError)
        self.assertEqual(error.bad_at, 9)
        FAKE.test_bad_at(0)
        error = self.raises(errno.EINVAL, device.set_scope, cmt.Scope.CPU, [])
        self.assertEqual(error.bad_at, 0)
        with self.assertRaises(ValueError):
            device.set_scope(cmt.Scope.CPU, ["a\0b"])

    def test_attach(self):
        device = self.open(control=True)
        attached = device.attach(cmt.OwnerKind.PROCESS, 4711, children=True)
        self.assertEqual(attached, cmt.Attached(7, 70))
        asked = FAKE.test_attach().contents
        self.assertEqual((asked.kind, asked.id, asked.options), (1, 4711, 1))
        device.detach(cmt.OwnerKind.CPU, 1)
        asked = FAKE.test_attach().contents
        self.assertEqual((asked.kind, asked.id, asked.options), (3, 1, 0))
        self.raises(errno.EBADF, self.open().attach, cmt.OwnerKind.CPU, 1)

    def test_resctrl(self):
        device = self.open(control=True)
        self.assertEqual(device.resctrl(), (cmt.ResctrlMode.RESPECT, False))
        device.set_resctrl(cmt.ResctrlMode.TAKE)
        self.assertEqual(device.resctrl(), (cmt.ResctrlMode.TAKE, False))
        self.raises(errno.EINVAL, device.set_resctrl, 9)
        self.raises(errno.EBADF, self.open().set_resctrl, cmt.ResctrlMode.TAKE)

    def test_counters(self):
        device = self.open()
        self.assertEqual(device.counters(), (cmt.Flag(0), ""))
        self.assertEqual((device.info.counters, device.info.perf_reason), (0, ""))
        FAKE.test_uncounted(int(cmt.Flag.LLC_MISSES))
        device.set_counters(cmt.Flag.CYCLES | cmt.Flag.LLC_MISSES)
        self.assertEqual(device.counters(), (cmt.Flag.CYCLES, "no such counter"))
        self.raises(errno.EINVAL, device.set_counters, cmt.Flag.ERROR)
        again = self.open().info
        self.assertEqual((again.counters, again.perf_reason),
                         (cmt.Flag.CYCLES, "no such counter"))

    def test_values(self):
        device = self.open()
        device.set_values(cmt.Flag.OCCUPANCY | cmt.Flag.MBM_LOCAL)
        self.raises(errno.EINVAL, device.set_values, cmt.Flag(0))
        self.raises(errno.EINVAL, device.set_values, cmt.Flag.CYCLES)

    def test_cgroup_path(self):
        device = self.open()
        self.assertEqual(device.cgroup_path(7001), "/a/b")
        self.assertIn("cgroup 7002", self.raises(errno.ENOENT, device.cgroup_path, 7002).strerror)

    def test_unknown_numbers(self):
        self.assertEqual(cmt.Scope(9), 9)
        self.assertEqual(cmt.Scope(9).name, "UNKNOWN_9")
        self.assertEqual(cmt.Flag(0x0800) | cmt.Flag.ERROR, 0x0900)
        with self.assertRaises(ValueError):
            cmt.Scope("process")


class ReaderTest(FakeCase):
    def test_merged(self):
        with cmt.Reader(self.open()) as reader:
            self.assertEqual(reader.read(), [])
            event(cmt.RecordType.ALLOC, 0, T0 + 1, 5)
            sample(1, T0 + 2, 5)
            tick(0, T0 + 3)
            FAKE.test_other(32, 1, U64(T0 + 4))
            FAKE.test_other(99, 0, U64(T0 + 5))
            tick(0, T0 + 9)
            tick(1, T0 + 9)
            records = reader.read()
            self.assertEqual([r.ts_ns - T0 for r in records], [1, 2, 3, 4, 5, 9])
            alloc, reading, first, online, other = records[:5]
            self.assertEqual(alloc.owner.pid, 1005)
            self.assertEqual((alloc.type, alloc.rmid), (cmt.RecordType.ALLOC, 5))
            self.assertEqual(reading, cmt.Sample(
                T0 + 2, cmt.RecordType.SAMPLE, VALUES, 1, 5, 50, 0,
                4 * MIB, 300, 200, 100))
            self.assertEqual((first.interval_ns, first.missed, first.deferred), (MS, 11, 12))
            self.assertEqual((first.busy_ns, first.read, first.waiting), (13, 14, 15))
            self.assertEqual(online.type, cmt.RecordType.CPU_ONLINE)
            self.assertIs(type(other), cmt.Record)
            self.assertEqual(other.type, 99)

    def test_not_measured(self):
        with cmt.Reader(self.open()) as reader:
            sample(0, T0 + 1, 5, cmt.Flag.OCCUPANCY | cmt.Flag.EMULATED, (0, 0, 0, 0))
            sample(0, T0 + 2, 5, cmt.Flag.ERROR, (0, 0, 0, 0))
            tick(0, T0 + 9)
            tick(1, T0 + 9)
            good, bad = reader.read()[:2]
            self.assertEqual(good.occupancy_bytes, 0)
            self.assertIn(cmt.Flag.EMULATED, good.flags)
            for value in (good.mbm_total_bytes, good.mbm_local_bytes,
                          good.residual_bytes, bad.occupancy_bytes):
                self.assertIsNone(value)

    def test_batches(self):
        with cmt.Reader(self.open()) as reader:
            for i in range(1, 11):
                tick(i & 1, T0 + i)
            self.assertEqual(len(reader.read(4)), 4)
            self.assertEqual(len(reader.read()), 5)
            counts = reader.counts()
            self.assertEqual((counts.emitted, counts.delivered, counts.pending), (10, 9, 1))
            self.assertEqual(reader.counts(1).emitted, 5)
            self.raises(errno.EINVAL, reader.counts, 2)

    def test_lost(self):
        with cmt.Reader(self.open()) as reader:
            for i in range(1, 101):
                tick(0, T0 + i)
            tick(1, T0 + 100)
            records = reader.read()
            self.assertIsInstance(records[0], cmt.Lost)
            self.assertEqual(records[0].type, cmt.RecordType.LOST)
            counts = reader.counts()
            self.assertEqual(records[0].lost, counts.lost)
            self.assertEqual(counts.emitted, 101)
            self.assertEqual(counts.emitted, counts.delivered + counts.lost + counts.late +
                             counts.malformed + counts.pending)

    def test_oldest(self):
        tick(0, T0 - 2)
        tick(1, T0 - 1)
        with cmt.Reader(self.open(), oldest=True) as reader:
            self.assertEqual([r.ts_ns for r in reader.read()], [T0 - 2])

    def test_iteration(self):
        with cmt.Reader(self.open()) as reader:
            tick(0, T0 + 1)
            tick(1, T0 + 2)
            self.assertEqual(next(iter(reader)).ts_ns, T0 + 1)

    def test_latency(self):
        with cmt.Reader(self.open(), latency_ns=1000) as reader:
            tick(0, T0 + 1)
            self.assertEqual(reader.read(), [])
            FAKE.test_now(U64(T0 + 1001))
            self.assertEqual(len(reader.read()), 1)

    def test_state(self):
        with cmt.Reader(self.open()) as reader:
            FAKE.test_state(0, U64(T0 + 1))
            tick(0, T0 + 9)
            tick(1, T0 + 9)
            state = reader.read()[0]
            self.assertEqual(state, cmt.State(
                T0 + 1, cmt.RecordType.STATE, cmt.Flag(0), 0, 0, 0, 0,
                cmt.Scope.CONTAINER, MS, cmt.ResctrlMode.TAKE, True, cmt.Flag.CYCLES))

    def test_perf(self):
        with cmt.Reader(self.open()) as reader:
            perf(0, T0 + 1, 5)
            perf(0, T0 + 2, 0, cmt.Flag.CYCLES | cmt.Flag.WAITED, (7, 0, 0, 0, 2048))
            tick(0, T0 + 9)
            tick(1, T0 + 9)
            first, second = reader.read()[:2]
            self.assertEqual(first, cmt.Perf(
                T0 + 1, cmt.RecordType.PERF, COUNTERS, 0, 5, 50, 0,
                MS // 2, 1000, 500, 5, 8, None))
            self.assertEqual((second.cycles, second.waited_ns), (7, 2048))
            self.assertEqual((second.instructions, second.llc_misses,
                              second.llc_references), (None, None, None))

    def test_poll(self):
        device = self.open()
        poll = select.poll()
        poll.register(device, select.POLLIN)
        with cmt.Reader(device, watermark=1) as reader:
            tick(0, T0 + 1)
            tick(1, T0 + 2)
            self.assertTrue(reader.wait(0))
            self.assertFalse(reader.wait(0))
            while reader.read():
                pass
            self.assertFalse(reader.wait(0))
            tick(0, T0 + 3)
            self.assertTrue(reader.wait(0))

    def test_wait(self):
        with cmt.Reader(self.open()) as reader:
            self.assertIs(reader.wait(0), False)
            FAKE.test_fail(0, 0, errno.EINTR)
            self.assertIs(reader.wait(0), False)
            FAKE.test_fail(0, 0, errno.EIO)
            self.raises(errno.EIO, reader.wait, 0)

    def test_one_reader(self):
        device = self.open()
        with cmt.Reader(device):
            self.raises(errno.EBUSY, cmt.Reader, device)
        cmt.Reader(device).close()
        self.raises(errno.EINVAL, cmt.Reader, device, watermark=1 << 30)

    def test_device_closes_its_reader(self):
        device = self.open()
        reader = cmt.Reader(device)
        device.close()
        with self.assertRaisesRegex(ValueError, "Reader is closed"):
            reader.read()
        with self.assertRaisesRegex(ValueError, "Device is closed"):
            cmt.Reader(device)

    def test_reader_keeps_the_device(self):
        device = cmt.Device()
        reader = cmt.Reader(device)
        number = device.fileno()
        gone = weakref.ref(device)
        del device
        gc.collect()
        self.assertIsNone(gone())
        tick(0, T0 + 1)
        tick(1, T0 + 2)
        self.assertEqual(len(reader.read()), 1)
        del reader
        gc.collect()
        with self.assertRaises(OSError):
            os.fstat(number)


class SlotsTest(FakeCase):
    def setUp(self):
        super().setUp()
        FAKE.test_existing(U64(T0 - 9), 5, 50, 0)
        FAKE.test_as_of(U64(T0 - 1))
        self.device = self.open()
        self.reader = cmt.Reader(self.device)
        self.slots = cmt.Slots(self.device)
        self.addCleanup(self.slots.close)

    def millisecond(self, number):
        ts = T0 + number * MS
        sample(0, ts + 1, 5)
        tick(0, ts + 2)
        tick(1, ts + 3)
        FAKE.test_now(U64(ts + 4))

    def all(self):
        """The slots that are retired by all there is."""
        slots = []
        while more := self.slots.feed(self.reader):
            slots += more
        return slots

    def test_slots(self):
        self.assertEqual(self.slots.feed(self.reader), [])
        for number in range(8):
            self.millisecond(number)
        slots = self.all()
        self.assertEqual([s.start_ns for s in slots], [T0 + i * MS for i in range(7)])
        self.assertEqual((slots[0].end_ns, slots[0].lost, slots[0].gaps), (T0 + MS, 0, 0))
        self.assertEqual(rows_of(slots[0].entries), [{
            "rmid": 5, "generation": 50, "domain": 0, "samples": 1, "ts_ns": T0 + 1,
            "flags": VALUES, "cpu": 0, "occupancy_bytes": 4 * MIB, "residual_bytes": 100,
            "mbm_total_bytes": 300, "mbm_local_bytes": 200, "owner": 0,
            "cgroup_id": 7005, "pid": 1005}])
        (owner,) = slots[0].owners
        self.assertEqual((owner.pid, owner.comm), (1005, "name"))
        self.assertEqual(rows_of(slots[0].cpus)[1], {
            "cpu": 1, "domain": 0, "ticks": 1, "busy_ticks": 0, "rmid": 0,
            "generation": 0, "flags": 0, "interval_ns": MS, "missed": 11,
            "deferred": 12, "busy_ns": 13, "read": 14, "waiting": 15, "owner": -1})
        self.assertEqual(len(self.slots.flush()), 1)
        counts = self.slots.counts()
        self.assertEqual((counts.retired, counts.late), (8, 0))

    def test_order_and_owners(self):
        for rmid in (6, 7):
            event(cmt.RecordType.ALLOC, 0, T0 + rmid, rmid)
        for ts, rmid in enumerate((7, 0, 6, 5), T0 + 10):
            sample(0, ts, rmid, values=(rmid, 0, 0, 0))
        FAKE.test_busy_tick(1, U64(T0 + 20), 7, 70)
        tick(0, T0 + 20)
        self.slots.feed(self.reader)
        (slot,) = self.slots.flush()
        entries = slot.entries
        self.assertEqual(entries.rmid.tolist(), [0, 5, 6, 7])
        self.assertEqual(entries.occupancy_bytes.tolist(), [0, 5, 6, 7])
        self.assertEqual(entries.owner.tolist(), [-1, 0, 1, 2])
        self.assertEqual(entries.pid.tolist(), [0, 1005, 1006, 1007])
        self.assertEqual([o.rmid for o in slot.owners], [5, 6, 7])
        self.assertEqual(slot.cpus.owner.tolist(), [-1, 2])

    def test_cpu_of_an_owner_without_reading(self):
        tick(0, T0 + 20)
        FAKE.test_busy_tick(1, U64(T0 + 20), 5, 50)
        self.slots.feed(self.reader)
        (slot,) = self.slots.flush()
        self.assertEqual((len(slot.entries), len(slot.entries.rmid)), (0, 0))
        self.assertEqual(slot.cpus.owner.tolist(), [-1, 0])
        self.assertEqual(slot.owners[0].rmid, 5)

    def test_owners_are_the_same_objects(self):
        for number in range(4):
            self.millisecond(number)
        event(cmt.RecordType.ALLOC, 0, T0 + 4 * MS, 8)
        for number in (4, 5):
            sample(0, T0 + number * MS + 1, 8)
            self.millisecond(number)
        slots = self.all() + self.slots.flush()
        self.assertEqual(len(slots), 6)
        self.assertIs(slots[0].owners, slots[3].owners)
        self.assertEqual([o.rmid for o in slots[5].owners], [5, 8])
        self.assertIs(slots[5].owners[0], slots[0].owners[0])
        self.assertIs(slots[5].owners, slots[4].owners)
        self.assertEqual(slots[1].owners, slots[0].owners)

    def test_columns_stay(self):
        for number in range(8):
            self.millisecond(number)
        slot = self.slots.feed(self.reader)[1]
        held, ticks = slot.entries.occupancy_bytes, slot.cpus.ticks
        late = slot.cpus
        self.assertIs(slot.entries.occupancy_bytes, held)
        self.slots.close()
        self.device.close()
        del slot
        gc.collect()
        self.assertEqual((held.tolist(), held.format, held.itemsize), ([4 * MIB], "q", 8))
        self.assertEqual((ticks.tolist(), late.cpu.tolist()), ([1, 1], [0, 1]))
        with self.assertRaises(TypeError):
            held[0] = 1

    def test_blocks_are_freed(self):
        self.millisecond(0)
        self.slots.feed(self.reader)
        (slot,) = self.slots.flush()
        column, gone = slot.entries.rmid, weakref.ref(slot._block)
        del slot
        gc.collect()
        self.assertIsNone(gone())
        self.assertEqual(column.tolist(), [5])

    def test_numpy(self):
        if not numpy:
            return
        for rmid in range(5, 9):
            sample(0, T0 + rmid, rmid, values=(rmid * MIB, 0, 0, 0))
        tick(0, T0 + 20)
        tick(1, T0 + 20)
        self.slots.feed(self.reader)
        (slot,) = self.slots.flush()
        held = numpy.asarray(slot.entries.occupancy_bytes)
        self.assertEqual((held.dtype, held.sum()), (numpy.int64, 26 * MIB))
        self.assertFalse(held.flags.owndata)
        self.assertFalse(held.flags.writeable)
        self.assertTrue(held.flags.c_contiguous)
        rmid = numpy.asarray(slot.entries.rmid)
        self.assertEqual((rmid.dtype, rmid.tolist()), (numpy.uint32, [5, 6, 7, 8]))

    def test_carried(self):
        self.millisecond(0)
        for number in (1, 2):
            tick(0, T0 + number * MS)
            tick(1, T0 + number * MS)
        FAKE.test_now(U64(T0 + 1000 * MS))
        first, _, last = self.all()
        self.assertEqual(first.entries.samples[0], 1)
        entries = last.entries
        self.assertEqual(entries.samples[0], 0)
        self.assertEqual((entries.ts_ns[0], entries.occupancy_bytes[0]), (T0 + 1, 4 * MIB))
        self.assertEqual(last.end_ns - entries.ts_ns[0], 3 * MS - 1)

    def test_nothing_measured(self):
        flags = cmt.Flag.UNAVAILABLE | cmt.Flag.EMULATED
        sample(0, T0 + 1, 6, flags, (0, 0, 0, 0))
        sample(0, T0 + 1, 7, VALUES, (1 << 63, 1, 0, (1 << 64) - 1))
        tick(0, T0 + 2)
        tick(1, T0 + 2)
        self.slots.feed(self.reader)
        (slot,) = self.slots.flush()
        nothing, most = rows_of(slot.entries)
        self.assertEqual((nothing["owner"], nothing["flags"]), (-1, flags))
        for name in ("occupancy_bytes", "residual_bytes", "mbm_total_bytes", "mbm_local_bytes"):
            self.assertEqual(nothing[name], -1)
        # what no cache holds is still no value that was not measured
        self.assertEqual((most["occupancy_bytes"], most["residual_bytes"]), ((1 << 63) - 1,) * 2)
        self.assertEqual((most["mbm_total_bytes"], most["mbm_local_bytes"]), (1, 0))

    def test_owner(self):
        event(cmt.RecordType.FREE, 0, T0 + 1, 5)
        event(cmt.RecordType.ALLOC, 0, T0 + 2, 8)
        tick(0, T0 + 9)
        tick(1, T0 + 9)
        self.slots.feed(self.reader)
        self.assertEqual(self.slots.owner(5, T0 + 3).until_ns, T0 + 1)
        self.assertIsNone(self.slots.owner(8, T0 + 3).until_ns)
        self.assertIsNone(self.slots.owner(9, T0 + 3))

    def test_asks_again_after_a_loss(self):
        self.slots.feed(self.reader)
        FAKE.test_existing(U64(T0 + 1), 6, 60, 0)
        FAKE.test_as_of(U64(T0 + 2))
        for i in range(1, 101):
            tick(0, T0 + i)
        tick(1, T0 + 100)
        self.assertIsNone(self.slots.owner(6, T0 + 100))
        self.slots.feed(self.reader)
        self.assertEqual(self.slots.owner(6, T0 + 100).pid, 1006)
        (slot,) = self.slots.flush()
        self.assertEqual(slot.lost, self.reader.counts().lost)
        self.assertGreater(slot.lost, 0)

    def test_follow(self):
        for number in range(6):
            self.millisecond(number)
        follow = self.slots.follow(self.reader)
        self.assertEqual(next(follow).start_ns, T0)
        self.assertEqual(next(follow).start_ns, T0 + MS)

    def test_exception_in_a_loop(self):
        for number in range(8):
            self.millisecond(number)
        with self.assertRaises(KeyError):
            for slot in self.slots.follow(self.reader):
                raise KeyError(slot.start_ns)
        # nothing is lost with it: the next one follows
        self.assertEqual(next(self.slots.follow(self.reader)).start_ns, T0 + MS)
        self.slots.close()

    def test_options(self):
        self.raises(errno.EINVAL, cmt.Slots, self.device, slot_ns=1)
        self.raises(errno.EINVAL, cmt.Slots, self.device, window=1)
        with self.assertRaises(OverflowError):
            cmt.Slots(self.device, window=-1)

    def test_closed(self):
        self.slots.close()
        with self.assertRaisesRegex(ValueError, "Slots is closed"):
            self.slots.feed(self.reader)

    def test_collected_in_a_cycle(self):
        reader, gone = self.reader, weakref.ref(self.reader)
        reader.itself = reader
        del reader, self.reader
        gc.collect()
        self.assertIsNone(gone())
        cmt.Reader(self.device).close()


def rows_of(columns):
    """All columns, as one dictionary for each row."""
    kind = type(columns)
    names = [n for n in vars(kind) if not n.startswith("_") and n not in ("layout", "strided")]
    taken = {name: getattr(columns, name).tolist() for name in names}
    for column in taken.values():
        assert len(column) == len(columns)
    return [{n: taken[n][i] for n in names} for i in range(len(columns))]


def mapped(*words):
    """Where memory is mapped, of the lines of maps that have these words."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return [tuple(int(number, 16) for number in line.split()[0].split("-"))
                for line in maps if all(word in line for word in words)]


def map_memory(begin, end):
    """Map memory to where there is none."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long]
    assert libc.mmap(begin, end - begin, mmap.PROT_READ | mmap.PROT_WRITE,
                     mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == begin


class UsageTest(FakeCase):
    """Frames of 5 ms, of slots of 1 ms."""

    def setUp(self):
        super().setUp()
        for rmid in (1, 5):
            FAKE.test_existing(U64(T0 - 9), rmid, 10 * rmid, 0)
        FAKE.test_as_of(U64(T0 - 1))
        FAKE.test_info(2, U64(32 * MIB))
        FAKE.test_events(int(EVENTS))
        self.device = self.open()
        self.perf = False

    def usage(self, **options):
        usage = cmt.Usage(self.device, **{"interval_ns": 5 * MS, **options})
        self.addCleanup(usage.close)
        return usage

    def milliseconds(self, begin, end, flags=VALUES | cmt.Flag.EMULATED):
        """RMID 1 holds 1 MiB more each time, and moves 3 MiB, 2 of them local."""
        for n in range(begin, end):
            ts = T0 + n * MS
            sample(0, ts + 1, 1, flags, ((n + 1) * MIB, n * 3 * MIB, n * 2 * MIB, 100))
            sample(1, ts + 1, 5, flags, (8 * MIB, 0, 0, 0))
            if self.perf:
                perf(0, ts + 2, 1, COUNTERS | cmt.Flag.WAITED)
                perf(1, ts + 2, 5, COUNTERS | cmt.Flag.WAITED)
            tick(0, ts + 2)
            tick(1, ts + 3)
            FAKE.test_now(U64(ts + 4))

    def frame(self, **options):
        """The first frame of 10 ms, and the usage."""
        usage = self.usage(**options)
        self.milliseconds(0, 12)
        frame = usage.next()
        self.assertIsNotNone(frame)
        return frame, usage

    def row(self, frame, **members):
        (row,) = [r for r in frame.rows
                  if all(getattr(r, name) == value for name, value in members.items())]
        return row

    def test_default(self):
        with cmt.Usage(self.device) as usage:
            self.assertIsNone(usage.next())
            self.assertLessEqual(usage.timeout_ms(), 110)
            self.assertGreater(usage.timeout_ms(), 90)

    def test_frame(self):
        frame, usage = self.frame(by=cmt.By.PROCESS)
        self.assertEqual((frame.start_ns, frame.end_ns), (T0, T0 + 5 * MS))
        self.assertEqual((frame.by, frame.emulated), (cmt.By.PROCESS, True))
        self.assertEqual((frame.nr_slots, frame.nr_gaps, frame.nr_cpus), (5, 0, 2))
        self.assertEqual((frame.lost, frame.dropped, frame.sampling_ns), (0, 0, MS))
        self.assertEqual(frame.last_ns, T0 + 4 * MS + 1)
        row = self.row(frame, pid=1001)
        self.assertEqual((row.kind, row.owner), (cmt.RowKind.OWNER, cmt.OwnerKind.PROCESS))
        self.assertEqual((row.comm, row.rmid, row.generation), ("name", 1, 10))
        self.assertEqual((row.cgroup_id, row.rmids, row.l3_bytes), (7001, 1, 32 * MIB))
        self.assertTrue(row.emulated)
        held = row.occupancy
        self.assertEqual((held.known, held.partial, held.why), (True, False, 0))
        self.assertEqual((held.last_bytes, held.least_bytes), (5 * MIB, MIB))
        self.assertEqual((held.most_bytes, held.mean_bytes), (5 * MIB, 3 * MIB))
        self.assertEqual(held.slots, 5)
        self.assertEqual((held.residual_bytes, held.age_ns), (100, 0))
        second = self.row(usage.next(), pid=1001)
        for rate, moved in ((second.total, 15 * MIB), (second.local, 10 * MIB)):
            self.assertEqual((rate.known, rate.partial), (True, False))
            self.assertEqual(rate.bytes, moved)
            self.assertAlmostEqual(rate.rate, moved / 0.005)
            self.assertLess(rate.lo, rate.rate)
            self.assertLess(rate.rate, rate.hi)
        self.assertEqual(second.coverage, cmt.Coverage(1, 1, 1))
        self.assertIsNone(usage.next())

    def test_coverage(self):
        usage = self.usage(by=cmt.By.PROCESS)
        self.milliseconds(0, 5)
        self.milliseconds(5, 12, cmt.Flag.OCCUPANCY | cmt.Flag.UNAVAILABLE)
        usage.next()
        row = self.row(usage.next(), pid=1001)
        self.assertEqual(row.coverage, cmt.Coverage(1, 0, 0))

    def test_coverage_without_local(self):
        events = cmt.Flag.OCCUPANCY | cmt.Flag.MBM_TOTAL
        self.device.close()
        FAKE.test_events(int(events))
        self.device = self.open()
        usage = self.usage(by=cmt.By.PROCESS)
        self.milliseconds(0, 7, events)
        self.milliseconds(7, 10, cmt.Flag.OCCUPANCY | cmt.Flag.UNAVAILABLE)
        self.milliseconds(10, 12, events)
        usage.next()
        frame = usage.next()
        row = self.row(frame, pid=1001)
        self.assertEqual(row.coverage, cmt.Coverage(1, 0.4, None))
        at = frame.columns.pid.tolist().index(1001)
        self.assertEqual(frame.columns.coverage_total[at], 0.4)
        self.assertTrue(math.isnan(frame.columns.coverage_local[at]))

    def test_counters(self):
        self.perf = True
        frame, usage = self.frame(by=cmt.By.PROCESS, counters=COUNTERS)
        self.assertEqual(FAKE.test_counters(), int(COUNTERS))
        self.assertEqual(frame.counters, COUNTERS | cmt.Flag.WAITED)
        self.assertEqual(frame.counted_ns, 4 * MS + MS // 2)
        counted = self.row(usage.next(), pid=1001).counters
        self.assertEqual((counted.known, counted.partial, counted.why), (True, False, 0))
        self.assertEqual((counted.cycles, counted.instructions), (5000, 2500))
        self.assertEqual((counted.llc_misses, counted.llc_references), (25, 40))
        self.assertEqual((counted.ran_ns, counted.bounds), (5 * MS // 2, 0))
        self.assertEqual((counted.cpu_share, counted.ipc, counted.mpki), (0.5, 0.5, 10))
        self.assertEqual((counted.waited_ns, counted.wait_quota), (5 * 2048, False))
        self.assertAlmostEqual(counted.wait_share, 5 * 2048 / (5 * MS))
        usage.close()
        self.assertEqual(FAKE.test_counters(), 0)

    def test_waits(self):
        """RMID 1 waits for RMID 5, and a task of it for another one of its own."""
        usage = self.usage(by=cmt.By.PROCESS, counters=cmt.Flag.WAITED, waits=True)
        self.assertEqual(FAKE.test_counters(), int(cmt.Flag.WAITED))
        for n in range(7):
            ts = T0 + n * MS
            perf(0, ts + 1, 1, cmt.Flag.WAITED, (0, 0, 0, 0, MS, MS // 2))
            perf(0, ts + 2, 5, cmt.Flag.WAITED | cmt.Flag.WAIT_QUOTA, (0, 0, 0, 0, 0, MS // 2))
            tick(0, ts + 3)
            tick(1, ts + 3)
        FAKE.test_now(U64(T0 + 12 * MS))
        frame = usage.next()
        one, five = self.row(frame, rmid=1), self.row(frame, rmid=5)
        at, by = frame.rows.index(one), frame.rows.index(five)
        self.assertEqual(set(frame.waits), {cmt.WaitPart(at, at, 5 * MS // 4),
                                            cmt.WaitPart(at, by, 5 * 3 * MS // 4)})
        self.assertEqual(one.counters.waited_ns, 5 * MS)
        self.assertEqual((one.counters.wait_quota, five.counters.wait_quota), (False, True))
        self.assertEqual(one.counters.cycles, None)

    def test_waits_for_unknown(self):
        """No record says who ran."""
        usage = self.usage(by=cmt.By.PROCESS, waits=True)
        for n in range(7):
            perf(0, T0 + n * MS + 1, 1, cmt.Flag.WAITED, (0, 0, 0, 0, 4096, 0))
            tick(0, T0 + n * MS + 3)
            tick(1, T0 + n * MS + 3)
        FAKE.test_now(U64(T0 + 12 * MS))
        frame = usage.next()
        self.assertEqual(frame.waits, (cmt.WaitPart(0, None, 5 * 4096),))

    def test_no_waits(self):
        self.perf = True
        frame, _usage = self.frame(by=cmt.By.PROCESS)
        self.assertEqual(frame.waits, ())

    def channels(self, begin, end):
        for n in range(begin, end):
            ts = T0 + n * MS
            FAKE.test_channel(1, U64(ts), 1, U32(2**32 - 1), U64(n * 2000), U64(n * 500),
                              U64(n * 300 + 1), U64(n * 900))
            FAKE.test_channel(1, U64(ts), 0, 3, U64(n * 1000), U64(0), U64(0), U64(0))
            sample(0, ts, 0, VALUES, (0, 0, 0, 0))
            self.milliseconds(n, n + 1, VALUES)

    def test_channels(self):
        usage = self.usage(counters=cmt.Flag.CHANNEL)
        self.assertEqual(FAKE.test_counters(), int(cmt.Flag.CHANNEL))
        self.channels(0, 17)
        usage.next()
        frame = usage.next()
        one, other = frame.channels
        self.assertEqual((one.socket, one.channel, one.why), (0, 3, 0))
        self.assertEqual((other.socket, other.channel), (1, 2**32 - 1))
        self.assertEqual((one.read.bytes, one.written.bytes), (5000, 0))
        self.assertEqual((other.total.bytes, other.total.partial), (12500, False))
        idle = other.idle
        self.assertEqual((idle.known, idle.partial, idle.why), (True, False, 0))
        self.assertEqual((idle.idle_cycles, idle.busy_cycles, idle.share), (1500, 4500, 0.25))
        self.assertEqual((one.idle.known, one.idle.share, one.idle.why),
                         (False, None, cmt.UsageWhy.UNAVAILABLE))
        memory = frame.memory
        self.assertEqual((memory.total.known, memory.reason), (True, ""))
        self.assertAlmostEqual(memory.total.rate, 3.5e6)
        self.assertEqual(memory.rmids.bytes, 15 * MIB)
        self.assertTrue(memory.unattributed.known)
        self.assertAlmostEqual(memory.unattributed.rate, 3.5e6 - memory.rmids.rate)
        self.assertLess(memory.unattributed.lo, memory.unattributed.rate)
        FAKE.test_uncore(b"in use")
        memory = usage.peek().memory
        self.assertEqual((memory.total.known, memory.total.rate), (False, None))
        self.assertEqual((memory.unattributed.rate, memory.reason), (None, "in use"))

    def test_no_channels(self):
        frame, _usage = self.frame()
        self.assertEqual(frame.channels, ())
        self.assertEqual(frame.memory.total.rate, None)
        self.assertFalse(frame.memory.unattributed.known)

    def test_not_counted(self):
        frame, _usage = self.frame(by=cmt.By.PROCESS)
        self.assertEqual((frame.counters, frame.counted_ns), (0, 0))
        self.assertEqual(frame.rows[0].counters, cmt.Counters(
            False, False, cmt.UsageWhy.NOT_COUNTED, cmt.Flag(0), *[None] * 10, False))
        for name in ("ran_ns", "cycles", "instructions", "llc_misses", "llc_references",
                     "waited_ns"):
            self.assertEqual(getattr(frame.columns, name)[0], -1, name)
        for name in ("cpu_share", "ipc", "mpki", "wait_share"):
            self.assertTrue(math.isnan(getattr(frame.columns, name)[0]), name)

    def test_columns_are_the_rows(self):
        self.perf = True
        frame, usage = self.frame(by=cmt.By.PROCESS)
        frame = usage.next()
        self.assertEqual(len(frame.columns), len(frame.rows))
        groups = {"least_bytes": "occupancy", "mean_bytes": "occupancy",
                  "most_bytes": "occupancy", "residual_bytes": "occupancy",
                  "age_ns": "occupancy"}
        for columns, row in zip(rows_of(frame.columns), frame.rows):
            for name, value in columns.items():
                group, _, member = name.partition("_")
                if name in groups:
                    expected = getattr(row.occupancy, name)
                elif name == "occupancy_bytes":
                    expected = row.occupancy.last_bytes
                elif hasattr(row.counters, name) and not hasattr(row, name):
                    expected = getattr(row.counters, name)
                elif group in ("occupancy", "total", "local", "counters", "coverage"):
                    expected = getattr(getattr(row, group), member)
                else:
                    expected = getattr(row, name)
                if name != "pending":
                    self.assertEqual(value, expected, name)

    def test_not_known(self):
        usage = self.usage(by=cmt.By.PROCESS)
        self.milliseconds(0, 7, cmt.Flag.UNAVAILABLE)
        frame = usage.next()
        row = self.row(frame, pid=1001)
        self.assertFalse(row.occupancy.known or row.total.known or row.local.known)
        self.assertIn(cmt.UsageWhy.UNAVAILABLE, row.occupancy.why)
        self.assertIn(cmt.UsageWhy.UNAVAILABLE, row.why)
        for value in (row.occupancy.last_bytes, row.occupancy.least_bytes,
                      row.occupancy.mean_bytes, row.occupancy.most_bytes,
                      row.occupancy.residual_bytes, row.occupancy.age_ns,
                      row.total.bytes, row.total.rate, row.local.lo, row.local.hi,
                      row.pending):
            self.assertIsNone(value)
        self.assertEqual(row.occupancy.slots, 0)
        self.assertEqual(row.coverage, cmt.Coverage(0, 0, 0))
        columns = rows_of(frame.columns)[0]
        for name in ("occupancy_bytes", "least_bytes", "mean_bytes", "most_bytes",
                     "residual_bytes", "age_ns", "total_bytes", "local_bytes"):
            self.assertEqual(columns[name], -1, name)
        for name in ("total_rate", "total_lo", "total_hi", "local_rate"):
            self.assertTrue(math.isnan(columns[name]), name)
        self.assertIs(columns["occupancy_known"], False)

    def test_residue_not_known(self):
        """The RMID was not read when its owner got it."""
        usage = self.usage(by=cmt.By.PROCESS)
        self.milliseconds(0, 7, VALUES & ~cmt.Flag.RESIDUAL)
        frame = usage.next()
        row = self.row(frame, pid=1001)
        self.assertTrue(row.occupancy.known)
        self.assertGreater(row.occupancy.last_bytes, 0)
        self.assertIsNone(row.occupancy.residual_bytes)
        at = frame.columns.pid.tolist().index(1001)
        self.assertEqual(frame.columns.residual_bytes[at], -1)

    def test_most_of_an_owner_that_ended(self):
        """It held nothing, which was measured."""
        usage = self.usage(by=cmt.By.PROCESS)
        for n in range(7):
            ts = T0 + n * MS
            if n < 3:
                sample(0, ts + 1, 1, VALUES, (0, 0, 0, 0))
            elif n == 3:
                event(cmt.RecordType.FREE, 0, ts + 1, 1)
            tick(0, ts + 2)
            tick(1, ts + 3)
            FAKE.test_now(U64(ts + 4))
        held = self.row(usage.next(), pid=1001).occupancy
        self.assertEqual((held.known, held.last_bytes), (False, None))
        self.assertEqual((held.slots, held.mean_bytes, held.most_bytes), (3, 0, 0))

    def test_spread_of_no_slot(self):
        usage = self.usage(by=cmt.By.DOMAIN)
        for n in range(7):
            ts = T0 + n * MS
            sample(0, ts + 1, 1, VALUES, (MIB, 0, 0, 0))
            sample(1, ts + 1, 5, cmt.Flag.UNAVAILABLE, (0, 0, 0, 0))
            tick(0, ts + 2)
            tick(1, ts + 3)
            FAKE.test_now(U64(ts + 4))
        frame = usage.next()
        (row,) = frame.rows
        held = row.occupancy
        self.assertEqual((held.known, held.partial, held.slots), (True, True, 0))
        self.assertEqual((held.least_bytes, held.mean_bytes), (None, None))
        self.assertEqual((held.last_bytes, held.most_bytes), (MIB, MIB))
        columns = rows_of(frame.columns)[0]
        self.assertEqual((columns["least_bytes"], columns["mean_bytes"]), (-1, -1))

    def test_containers(self):
        usage = self.usage(children=True)
        self.milliseconds(0, 12)
        first, second = itertools.islice(usage, 2)
        row = self.row(first, cgroup_id=7001)
        self.assertEqual((row.owner, row.pid), (cmt.OwnerKind.CGROUP, 0))
        self.assertEqual((row.container.path, row.container.own_path), ("/a/b", "/a/b"))
        self.assertIsNone(row.container.uid)
        other = self.row(first, cgroup_id=7005)
        self.assertEqual((other.container.name, other.container.path), ("cgroup:7005", None))
        self.assertEqual([child.pid for child in row.children], [1001])
        self.assertEqual(row.children[0].occupancy.last_bytes, row.occupancy.last_bytes)
        self.assertIs(self.row(second, cgroup_id=7001).container, row.container)
        self.assertEqual(sorted(first.child_columns.pid), [1001, 1005])

    def test_names_come_with_a_refresh(self):
        frame, usage = self.frame()
        self.assertIsNone(self.row(frame, cgroup_id=7001).container.path)
        usage.refresh(pending=False)
        self.assertEqual(self.row(usage.next(), cgroup_id=7001).container.path, "/a/b")

    def test_by(self):
        frame, _usage = self.frame(by=cmt.By.DOMAIN)
        self.assertEqual([(r.domain, r.occupancy.last_bytes) for r in frame.rows],
                         [(0, 13 * MIB)])

    def test_by_cpu(self):
        frame, _usage = self.frame(by=cmt.By.CPU)
        row = self.row(frame, cpu=1, flags=cmt.RowFlag.CPU | cmt.RowFlag.SEEN)
        self.assertEqual((row.ticks, row.busy_ticks), (5, 0))

    def test_pending(self):
        usage = self.usage()
        FAKE.test_pending(U64(T0 - 5), 0)
        self.milliseconds(0, 7)
        usage.refresh(names=False)
        frame = usage.next()
        self.assertEqual(frame.pending, 1)
        self.assertEqual(self.row(frame, cgroup_id=7001).pending, 0)
        FAKE.test_fail(0, errno.EIO, 0)
        error = self.raises(errno.EIO, usage.refresh)
        self.assertIn("names and counts", error.strerror)
        usage.refresh(names=False, pending=False)

    def test_iteration_counts_pending(self):
        usage = self.usage()
        FAKE.test_pending(U64(T0 - 5), 0)
        self.milliseconds(0, 12)
        frames = iter(usage)
        next(frames)
        self.assertEqual(next(frames).pending, 1)

    def test_lost(self):
        usage = self.usage()
        self.milliseconds(0, 70)
        frame = usage.next()
        while frame and not frame.lost:
            frame = usage.next()
        self.assertGreater(frame.lost, 0)
        self.assertEqual(frame.lost_ever, frame.lost)

    def test_peek(self):
        usage = self.usage(by=cmt.By.PROCESS)
        self.milliseconds(0, 4)
        self.assertIsNone(usage.next())
        frame = usage.peek()
        self.assertEqual((frame.start_ns, frame.end_ns), (T0, T0 + 3 * MS))
        self.assertEqual((frame.nr_slots, len(frame.rows)), (3, 2))

    def test_data_stays(self):
        frame, usage = self.frame(by=cmt.By.PROCESS)
        held, known = frame.columns.occupancy_bytes, frame.columns.occupancy_known
        at = frame.columns.pid.tolist().index(1001)
        usage.next()
        usage.close()
        self.device.close()
        self.assertEqual(self.row(frame, pid=1001).container.name, "cgroup:7001")
        gone = weakref.ref(frame._block)
        del frame
        gc.collect()
        self.assertIsNone(gone())
        self.assertEqual((held[at], held.format, known[at]), (5 * MIB, "q", True))
        with self.assertRaises(TypeError):
            held[at] = 1

    def test_numpy(self):
        if not numpy:
            return
        frame, usage = self.frame(by=cmt.By.PROCESS)
        columns = usage.next().columns
        held, rate = numpy.asarray(columns.occupancy_bytes), numpy.asarray(columns.total_rate)
        known = numpy.asarray(columns.total_known)
        del frame, columns
        gc.collect()
        self.assertEqual((held.dtype, rate.dtype, known.dtype), ("int64", "float64", "bool"))
        self.assertFalse(held.flags.owndata)
        self.assertEqual(sorted(held.tolist()), [8 * MIB, 10 * MIB])
        self.assertEqual(rate[known].sum(), 3 * MIB * 1000)

    def test_exception_in_a_loop(self):
        usage = self.usage()
        self.milliseconds(0, 12)
        for error in (KeyError, KeyboardInterrupt):
            with self.assertRaises(error):
                for frame in usage:
                    raise error(frame.start_ns)
        self.assertIsNone(usage.next())
        usage.close()
        with self.assertRaisesRegex(ValueError, "Usage is closed"):
            usage.next()
        with self.assertRaisesRegex(ValueError, "Usage is closed"):
            next(iter(usage))

    def test_wait(self):
        usage = self.usage()
        self.assertIs(usage.wait(0), False)
        FAKE.test_fail(0, 0, errno.EINTR)
        self.assertIs(usage.wait(0), False)
        FAKE.test_fail(0, 0, errno.ENODEV)
        error = self.raises(errno.ENODEV, usage.wait, 0)
        self.assertEqual(error.strerror, "wait: " + cmt.errors.why(-errno.ENODEV))

    def test_options(self):
        for options in ({"interval_ns": 1}, {"by": 9}, {"slot_ns": 1}):
            self.raises(errno.EINVAL, cmt.Usage, self.device, **options)
        with self.assertRaises(OverflowError):
            cmt.Usage(self.device, interval_ns=-1)
        self.usage()
        error = self.raises(errno.EBUSY, cmt.Reader, self.device)
        self.assertIn(cmt.errors.why(-errno.EBUSY), error.strerror)
        self.raises(errno.EBUSY, cmt.Usage, self.device)

    def test_device_closes_all_that_uses_it(self):
        usage, names = self.usage(), cmt.Containers(self.device)
        self.assertEqual(names.lookup(7001).path, "/a/b")
        self.device.close()
        with self.assertRaisesRegex(ValueError, "Usage is closed"):
            usage.next()
        with self.assertRaisesRegex(ValueError, "Containers is closed"):
            names.lookup(7001)
        with self.assertRaisesRegex(ValueError, "Device is closed"):
            cmt.Usage(self.device)

    def test_users_keep_the_device(self):
        for user, use in ((cmt.Usage, cmt.Usage.next),
                          (cmt.Containers, lambda names: names.lookup(7001))):
            device = cmt.Device()
            held = user(device)
            number = device.fileno()
            del device
            gc.collect()
            use(held)
            del held
            gc.collect()
            with self.assertRaises(OSError):
                os.fstat(number)

    def test_fork(self):
        """A child can use nothing; what it closes and frees changes nothing of the parent's."""
        self.perf = True
        frame, usage = self.frame(by=cmt.By.PROCESS, counters=COUNTERS)
        number, rings = self.device.fileno(), mapped("r--s", "memfd:rings")
        self.assertTrue(rings)

        def child():
            for begin, end in rings:
                map_memory(begin, end)
            other = "belongs to another process"
            for call in (usage.next, usage.timeout_ms, self.device.fileno, self.device.stats):
                with self.assertRaisesRegex(ValueError, other):
                    call()
            for user in (cmt.Reader, cmt.Usage, cmt.Containers):
                with self.assertRaisesRegex(ValueError, other):
                    user(self.device)
            self.assertEqual(self.row(frame, pid=1001).counters.cycles, 5000)
            usage.close()
            os.fstat(number)
            self.device.close()
            with self.assertRaises(OSError):
                os.fstat(number)
            self.assertEqual(FAKE.test_counters(), int(COUNTERS))
            for begin, end in rings:
                self.assertTrue(any(first <= begin and end <= last
                                    for first, last in mapped("rw-p")))
            FAKE.test_as_of(U64(0))
            with cmt.Device() as device, cmt.Usage(device) as again:
                self.assertIsNone(again.next())

        self.in_child(child)
        self.assertEqual(self.row(usage.next(), pid=1001).counters.cycles, 5000)

    def test_columns_in_another_thread(self):
        frame, _usage = self.frame(by=cmt.By.PROCESS)
        seen = []
        thread = threading.Thread(target=lambda: seen.append(frame.rows))
        thread.start()
        thread.join()
        self.assertIs(seen[0], frame.rows)


class SlowdownsTest(FakeCase):
    """RMID 1 waits for CPU 0 for 0.4 ms of each ms, while RMID 5 and it run there."""

    WAITS_NS = 400_000
    RAN_NS = 500_000

    def setUp(self):
        super().setUp()
        for rmid in (1, 5):
            FAKE.test_existing(U64(T0 - 9), rmid, 10 * rmid, 0)
        FAKE.test_as_of(U64(T0 - 1))
        FAKE.test_info(2, U64(32 * MIB))
        FAKE.test_events(int(EVENTS))
        self.device = self.open()
        self.slowdowns = cmt.Slowdowns(self.device)
        self.addCleanup(self.slowdowns.close)
        self.time_ms = 0

    def run_for(self, milliseconds, waits_ns):
        """Read every few of them: the rings have 64 records."""
        end = self.time_ms + milliseconds
        read = 0
        while self.time_ms < end:
            self.millisecond(waits_ns)
            if self.time_ms % 4 == 0 or self.time_ms == end:
                while frames := self.slowdowns.read():
                    read += frames
        return read

    def millisecond(self, waits_ns):
        ts = T0 + self.time_ms * MS
        flags = COUNTERS | cmt.Flag.WAITED
        for rmid, waited in ((1, waits_ns), (5, 0)):
            sample(0, ts + rmid, rmid, VALUES, (4 * MIB, self.time_ms * MIB, 0, 0))
            perf(0, ts + 10 + rmid, rmid, flags,
                 (1000, 500, 5, 80, waited, self.RAN_NS))
        tick(0, ts + 20)
        tick(1, ts + 21)
        FAKE.test_now(U64(ts + 22))
        self.time_ms += 1

    def test_nothing_yet(self):
        self.assertEqual(self.slowdowns.read(), 0)
        self.assertIsNone(self.slowdowns.end_ns)
        self.assertEqual((self.slowdowns.now(), self.slowdowns.minute()), ((), ()))
        self.assertEqual((self.slowdowns.incidents(), self.slowdowns.open_incidents()), ((), ()))

    def test_now(self):
        self.assertGreater(self.run_for(2100, self.WAITS_NS), 2000)
        self.assertEqual((self.slowdowns.sampling_ns, self.slowdowns.lost), (MS, 0))
        self.assertGreater(self.slowdowns.end_ns, T0 + 2000 * MS)
        self.assertGreater(self.slowdowns.counted, 0)
        waits = [s for s in self.slowdowns.now() if s.resource == cmt.Resource.CPU]
        self.assertEqual([(s.victim.cgroup_id, s.suspect.cgroup_id) for s in waits],
                         [(7001, 7005)])
        (wait,) = waits
        self.assertEqual(wait.victim.kind, cmt.RowKind.OWNER)
        self.assertIsNone(wait.domain)
        # of the time in which it ran or waited
        share = self.WAITS_NS / (self.WAITS_NS + self.RAN_NS)
        self.assertAlmostEqual(wait.share, share, delta=0.01)
        self.assertAlmostEqual(wait.cpus * MS, self.WAITS_NS + self.RAN_NS, delta=0.01 * MS)
        self.assertEqual(wait.low, wait.share)
        (mean,) = [s for s in self.slowdowns.minute() if s.resource == cmt.Resource.CPU]
        self.assertAlmostEqual(mean.share, share, delta=0.02)

    def test_incident(self):
        self.run_for(4000, 0)
        self.assertEqual(self.slowdowns.incidents(), ())
        self.run_for(3000, self.WAITS_NS)
        (begun,) = self.slowdowns.incidents()
        self.assertEqual((begun.number, begun.victim.cgroup_id), (1, 7001))
        self.assertTrue(begun.goes_on and not begun.began_before)
        (open_one,) = self.slowdowns.open_incidents()
        self.assertEqual(open_one.number, 1)
        self.assertGreater(open_one.lost_ns, begun.lost_ns)
        (part,) = [p for p in open_one.parts if p.resource == cmt.Resource.CPU]
        self.assertEqual((part.suspect.cgroup_id, part.domain, part.held_bytes),
                         (7005, None, None))
        self.run_for(4000, 0)
        (ended,) = self.slowdowns.incidents()
        self.assertEqual((ended.number, ended.goes_on, ended.share), (1, False, 0))
        self.assertEqual(self.slowdowns.open_incidents(), ())
        self.assertAlmostEqual(ended.lost_ns, 3000 * self.WAITS_NS, delta=1300 * self.WAITS_NS)
        self.assertGreater(ended.end_ns, begun.begin_ns)

    def test_names_come_with_a_refresh(self):
        self.run_for(2100, self.WAITS_NS)
        self.assertEqual(self.slowdowns.now()[0].victim.container.name, "cgroup:7001")
        self.slowdowns.refresh()
        self.run_for(100, self.WAITS_NS)
        found = {s.victim.cgroup_id: s.victim.container for s in self.slowdowns.now()}
        self.assertEqual(found[7001].name, "b")

    def test_suspect_outside(self):
        # what no owner of this machine did; the rings of a test cannot make it happen
        outside = self.slowdowns._party((1 << 64) - 1)
        self.assertEqual((outside.kind, outside.cgroup_id, outside.container),
                         (cmt.RowKind.OUTSIDE, 0, None))
        unattributed = self.slowdowns._party((0xFF << 56) + cmt.RowKind.UNATTRIBUTED)
        self.assertEqual(unattributed.kind, cmt.RowKind.UNATTRIBUTED)

    def test_closed(self):
        self.device.close()
        for call in (self.slowdowns.read, self.slowdowns.now, self.slowdowns.refresh,
                     self.slowdowns.timeout_ms, self.slowdowns.incidents,
                     self.slowdowns.open_incidents):
            with self.assertRaises(ValueError):
                call()

    def test_one_reader(self):
        self.raises(errno.EBUSY, cmt.Slowdowns, self.device)

    def test_failed_leaves_no_reader(self):
        """What is left of it when it cannot be made is freed before the device."""
        self.slowdowns.close()
        with cmt.Device() as device:
            # not by assertRaises(), which clears the variables of the error's frames
            with mock.patch("cmt.slowdown._new_culprit", side_effect=MemoryError):
                try:
                    cmt.Slowdowns(device)
                except MemoryError as error:
                    kept = error
        del kept
        gc.collect()


PAIRS = """
import gc, os, sys
import cmt

def sources():
    for user in (cmt.Reader, cmt.Usage, cmt.Slowdowns, cmt.Containers):
        yield cmt.Device(), user
    for user in (cmt.Usage, cmt.Slowdowns):
        yield cmt.Recording(sys.argv[1]), user
"""

CYCLES = PAIRS + """
class Agent:
    def __init__(self, source, user):
        self.source, self.user = source, user(source)
        self.on_tick = self.tick

    def tick(self):
        pass

def open_files():
    return len(os.listdir("/proc/self/fd"))

before = open_files()
# a collection that frees nothing changes the order of the next one
for passes in range(3):
    for source, user in sources():
        agent = Agent(source, user)
        del source
        for _ in range(passes):
            gc.collect()
        assert open_files() > before, user
        del agent
        gc.collect()
        assert open_files() == before, user
"""

GLOBALS = PAIRS + """
for number, (source, user) in enumerate(sources()):
    globals()[f"source{number}"] = source
    globals()[f"user{number}"] = user(source)

def main():
    return source
"""


class CollectedTest(unittest.TestCase):
    """A source and its user are finalized together, in the collector's order."""

    maxDiff = None

    def survives(self, script):
        done = subprocess.run(
            [sys.executable, "-c", script, os.environ["CMT_TEST_RECORDING"]], check=False,
            env={**os.environ, "CMT_TEST_STREAM": "1"}, cwd="/", capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_in_a_cycle(self):
        self.survives(CYCLES)

    def test_at_exit(self):
        """A function of a module and the module's globals are a cycle."""
        self.survives(GLOBALS)


class ContainersTest(unittest.TestCase):
    ID = "0c7f30f462d66b3d044efa41d0601ff09af0bbaef30bbff31453821e908bdd5a"

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = f"/system.slice/docker-{self.ID}.scope"
        os.makedirs(directory.name + self.path)
        self.root = directory.name
        self.inode = os.stat(directory.name + self.path).st_ino

    def test_lookup(self):
        with cmt.Containers(cgroup_root=self.root) as containers:
            containers.set_root(None)
            found = containers.lookup(self.inode)
            self.assertEqual(found, cmt.Container(
                self.inode, "docker", self.ID[:12], self.ID, "", self.path,
                self.path, None, False, None, None, None, None))
            self.assertIs(containers.lookup(self.inode), found)
            os.rmdir(self.root + self.path)
            self.assertEqual(containers.lookup(self.inode), found)
            containers.forget(self.inode)
            self.assertIsNone(containers.lookup(self.inode).path)

    def test_state(self):
        with cmt.Containers(cgroup_root=self.root) as containers:
            containers.set_root(os.environ["CMT_TEST_FIXTURES"])
            found = containers.lookup(self.inode)
            self.assertEqual(found.name, found.container_name)
            self.assertNotEqual(found.name, self.ID[:12])
            self.assertIsNotNone(found.image)
            with self.assertRaises(cmt.Error) as caught:
                containers.set_root("/nonexistent")
            self.assertEqual(caught.exception.errno, errno.ENOENT)
            self.assertIn("/nonexistent", caught.exception.strerror)

    def test_unknown(self):
        with cmt.Containers(cgroup_root=self.root) as containers:
            found = containers.lookup(12345678901)
            self.assertEqual((found.name, found.path), ("cgroup:12345678901", None))
            self.assertEqual(found.runtime, "")

    def test_no_cgroups(self):
        with self.assertRaises(cmt.Error) as caught:
            cmt.Containers(cgroup_root="/nonexistent")
        self.assertEqual(caught.exception.errno, errno.ENOENT)

    def test_closed(self):
        containers = cmt.Containers(cgroup_root=self.root)
        containers.close()
        with self.assertRaisesRegex(ValueError, "Containers is closed"):
            containers.lookup(1)

    def test_name(self):
        found = cmt.container_name(self.path)
        self.assertEqual((found.runtime, found.id, found.path), ("docker", self.ID, self.path))
        self.assertEqual(found.own_path, self.path)
        nested = cmt.container_name(self.path + "/init.scope")
        self.assertEqual((nested.id, nested.own_path), (self.ID, self.path))
        self.assertFalse(nested.overhead)
        beside = cmt.container_name("/kata_overhead/" + self.ID)
        self.assertTrue(beside.overhead)
        self.assertEqual(beside.id, self.ID)
        user = cmt.container_name("/user.slice/user-1000.slice/docker-x.scope")
        self.assertEqual((user.uid, found.uid), (1000, None))
        self.assertEqual(cmt.container_name("/a\udcff").name, "a?")
        with self.assertRaises(ValueError):
            cmt.container_name("/a\0b")


class PackageTest(unittest.TestCase):
    def test_layouts(self):
        # What the declarations say is compared with the compiler's at first use.
        ffi = cmt.types.ffi
        opaque = {f"cmt_{n}" for n in ("device", "reader", "slots", "tracker", "containers",
                                       "usage", "recording", "culprit")} | {"slot_queue"}
        structs = set(ffi.list_types()[1])
        self.assertTrue(structs > opaque)
        for name in structs - opaque:
            self.assertGreater(ffi.sizeof(f"struct {name}"), 0)
            ffi.typeof(f"struct {name}").fields

    def test_version(self):
        self.assertEqual(cmt.__version__, os.environ["CMT_TEST_VERSION"])

    def test_all(self):
        for name in cmt.__all__:
            self.assertTrue(getattr(cmt, name).__doc__, name)


class RecordingTest(unittest.TestCase):
    """What cmtstat record has kept of half a second of tests/tools/fake_device.c."""

    PATH = os.environ["CMT_TEST_RECORDING"]

    def open(self, path=PATH):
        recording = cmt.Recording(path)
        self.addCleanup(recording.close)
        return recording

    def frames(self, recording, **options):
        with cmt.Usage(recording, **{"interval_ns": 20 * MS, **options}) as usage:
            return list(usage)

    def cut(self, size):
        with open(self.PATH, "rb") as whole:
            with tempfile.NamedTemporaryFile(delete=False) as part:
                part.write(whole.read()[:size])
        self.addCleanup(os.unlink, part.name)
        return part.name

    def test_about(self):
        recording = self.open()
        about = recording.about()
        self.assertTrue(about.complete and about.indexed)
        self.assertEqual((about.damaged, about.damaged_bytes, about.missing), (0, 0, 0))
        self.assertEqual(about.bytes, os.path.getsize(self.PATH))
        self.assertGreater(about.records, 1000)
        self.assertGreater(about.end_ns - about.start_ns, 300 * MS)
        self.assertEqual(about.host, os.uname().nodename)
        self.assertIn("cmtstat", about.program)
        self.assertEqual(about.counter_bits, 9)
        self.assertTrue(recording.info.emulated)

    def test_frames(self):
        frames = self.frames(self.open(), by=cmt.By.PROCESS)
        self.assertGreater(len(frames), 15)
        for before, frame in zip(frames, frames[1:]):
            self.assertEqual(before.end_ns, frame.start_ns)
        for frame in frames[1:-1]:
            self.assertTrue(frame.emulated)
            self.assertEqual(frame.lost, 0)
            self.assertTrue(any(row.total.known for row in frame.rows))

    def test_seek(self):
        recording = self.open()
        about = recording.about()
        whole = self.frames(recording)
        recording.seek(about.start_ns)
        again = self.frames(recording)
        self.assertEqual([f.start_ns for f in whole], [f.start_ns for f in again])
        recording.seek(about.end_ns)
        self.assertLessEqual(len(self.frames(recording)), len(whole))

    def test_cut(self):
        recording = self.open(self.cut(os.path.getsize(self.PATH) // 2))
        self.assertFalse(recording.about().complete)
        self.assertLess(len(self.frames(recording)), len(self.frames(self.open())))

    def test_none(self):
        directory = tempfile.mkdtemp()
        self.addCleanup(os.rmdir, directory)
        for path, number in ((directory, errno.EISDIR), (self.cut(0), errno.ENODATA),
                             (directory + "/none", errno.ENOENT),
                             (__file__.encode(), errno.EBADMSG)):
            with self.assertRaises(cmt.Error) as caught:
                cmt.Recording(path)
            self.assertEqual(caught.exception.errno, number)
            self.assertIn(os.fsdecode(path), caught.exception.strerror)
        for path in (self.PATH + "\0b", os.fsencode(self.PATH) + b"\0b"):
            with self.assertRaises(ValueError):
                cmt.Recording(path)

    def test_slowdowns(self):
        """An iteration ends with the recording; all of it was read."""
        recording = self.open()
        with cmt.Slowdowns(recording) as slowdowns:
            self.assertEqual(list(slowdowns), [])
            self.assertEqual(slowdowns.read(), 0)
            self.assertTrue(slowdowns.emulated)
            self.assertGreater(slowdowns.end_ns, recording.about().end_ns - 2 * MS)

    def test_one_usage(self):
        recording = self.open()
        for first in (cmt.Usage, cmt.Slowdowns):
            with first(recording):
                for second in (cmt.Usage, cmt.Slowdowns):
                    with self.assertRaises(cmt.Error) as caught:
                        second(recording)
                    self.assertEqual(caught.exception.errno, errno.EBUSY)
        self.assertGreater(len(self.frames(recording)), 15)

    def test_closed(self):
        recording = cmt.Recording(self.PATH)
        usage = cmt.Usage(recording)
        recording.close()
        for call in (usage.next, recording.about):
            with self.assertRaises(ValueError):
                call()


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    bad = len(result.failures) + len(result.errors) + len(result.skipped)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad > 0)
