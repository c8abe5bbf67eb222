# SPDX-License-Identifier: GPL-2.0-or-later
"""The package cmt, as it ships, on the device of stream.c in a libcmt.so.1."""
import ctypes
import errno
import gc
import os
import select
import sys
import tempfile
import unittest
import weakref

import cmt

FAKE = ctypes.CDLL("libcmt.so.1")
U64 = ctypes.c_uint64
T0 = 5_000_000_000
MS = 1_000_000
MIB = 1 << 20
VALUES = cmt.Flag.OCCUPANCY | cmt.Flag.MBM_TOTAL | cmt.Flag.MBM_LOCAL | cmt.Flag.RESIDUAL


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

    def raises(self, number, call, *args, **options):
        with self.assertRaises(cmt.Error) as caught:
            call(*args, **options)
        self.assertEqual(caught.exception.errno, number)
        return caught.exception


class DeviceTest(FakeCase):
    def test_info(self):
        FAKE.test_info(2, U64(0))
        info = self.open().info
        self.assertEqual(info.abi, (1, 0))
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
        self.assertIsNone(info.l3_bytes)

    def test_hardware(self):
        FAKE.test_info(1, U64(32 * MIB))
        info = self.open().info
        self.assertFalse(info.emulated)
        self.assertEqual(info.l3_bytes, 32 * MIB)

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
        FAKE.test_abi(0x20003)
        error = self.raises(errno.EPROTONOSUPPORT, cmt.Device)
        self.assertIn("the module speaks ABI 2.3, this library 1.0", error.strerror)

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
        self.assertEqual((stats.allocs, stats.busy_ns), (0, 0))
        FAKE.test_fail(0, errno.EIO, 0)
        self.assertIn("statistics", self.raises(errno.EIO, cmt.Device.stats, self.device()).strerror)

    def device(self):
        FAKE.test_fail(0, 0, 0)
        device = self.open()
        FAKE.test_fail(0, errno.EIO, 0)
        return device

    def test_snapshot(self):
        FAKE.test_existing(U64(T0 - 9), 3, 30, 0)
        FAKE.test_existing(U64(T0 - 8), 4, 40, int(cmt.Flag.OWNER_CGROUP | cmt.Flag.ATTACHED))
        FAKE.test_existing(U64(T0 - 7), 5, 50, int(cmt.Flag.OWNER_CPU))
        FAKE.test_existing(U64(T0 - 6), 6, 60, int(cmt.Flag.OWNER_REST))
        FAKE.test_as_of(U64(T0 - 1))
        snapshot = self.open().snapshot()
        self.assertEqual(snapshot.as_of_ns, T0 - 1)
        process, cgroup, cpu, rest = snapshot.owners
        self.assertEqual(process, cmt.Owner(
            kind=cmt.OwnerKind.PROCESS, rmid=3, generation=30, since_ns=T0 - 9,
            until_ns=None, pid=1003, cpu=None, cgroup_id=7003,
            residual_bytes=0, attached=False, comm="name"))
        self.assertEqual((cgroup.kind, cgroup.attached), (cmt.OwnerKind.CGROUP, True))
        self.assertEqual((cgroup.pid, cgroup.cgroup_id), (None, 7004))
        self.assertEqual((cpu.kind, cpu.cpu, cpu.pid), (cmt.OwnerKind.CPU, 1005, None))
        self.assertEqual(rest.kind, cmt.OwnerKind.REST)

    def test_waiting(self):
        FAKE.test_waiting(U64(T0 - 5), 0)
        (owner,) = self.open().waiting().owners
        self.assertEqual((owner.since_ns, owner.rmid, owner.pid), (T0 - 5, 9, 1009))

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
            self.assertEqual((first.busy_ns, first.samples), (13, 14))
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

    def test_slots(self):
        self.assertEqual(self.slots.feed(self.reader), [])
        for number in range(8):
            self.millisecond(number)
        slots = self.slots.feed(self.reader)
        self.assertEqual([s.start_ns for s in slots], [T0 + i * MS for i in range(4)])
        self.assertEqual((slots[0].end_ns, slots[0].lost), (T0 + MS, 0))
        (entry,) = slots[0].entries
        self.assertEqual(entry, cmt.Entry(
            5, 50, 0, 1, T0 + 1, VALUES, 4 * MIB, 100, 300, 200, entry.owner))
        self.assertEqual((entry.owner.pid, entry.owner.comm), (1005, "name"))
        self.assertFalse(entry.emulated)
        cpu = slots[0].cpus[0]
        self.assertEqual((cpu.cpu, cpu.ticks, cpu.busy_ticks), (0, 1, 0))
        self.assertEqual((cpu.interval_ns, cpu.missed, cpu.deferred), (MS, 11, 12))
        self.assertEqual((cpu.busy_ns, cpu.samples, cpu.owner), (13, 14, None))
        self.assertEqual(len(self.slots.flush()), 4)
        counts = self.slots.counts()
        self.assertEqual((counts.retired, counts.late), (8, 0))

    def test_nothing_measured(self):
        sample(0, T0 + 1, 6, cmt.Flag.UNAVAILABLE | cmt.Flag.EMULATED, (0, 0, 0, 0))
        tick(0, T0 + 2)
        tick(1, T0 + 2)
        self.slots.feed(self.reader)
        (slot,) = self.slots.flush()
        (entry,) = slot.entries
        self.assertIsNone(entry.owner)
        self.assertTrue(entry.emulated)
        self.assertIn(cmt.Flag.UNAVAILABLE, entry.flags)
        for value in (entry.occupancy_bytes, entry.residual_bytes,
                      entry.mbm_total_bytes, entry.mbm_local_bytes):
            self.assertIsNone(value)

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

    def test_exception_in_the_callback(self):
        def fail(_raw):
            raise KeyboardInterrupt
        original = cmt.slots._make_slot
        self.addCleanup(setattr, cmt.slots, "_make_slot", original)
        cmt.slots._make_slot = fail
        self.millisecond(0)
        self.slots.feed(self.reader)
        with self.assertRaises(KeyboardInterrupt):
            self.slots.flush()
        cmt.slots._make_slot = original
        self.assertEqual(self.slots.flush(), [])

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
        with cmt.Containers(self.root) as containers:
            containers.set_root(None)
            found = containers.lookup(self.inode)
            self.assertEqual(found, cmt.Container(
                self.inode, "docker", self.ID[:12], self.ID, "", self.path,
                None, None, None, None))
            os.rmdir(self.root + self.path)
            self.assertEqual(containers.lookup(self.inode), found)
            containers.forget(self.inode)
            self.assertIsNone(containers.lookup(self.inode).path)

    def test_state(self):
        with cmt.Containers(self.root) as containers:
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
        with cmt.Containers(self.root) as containers:
            found = containers.lookup(12345678901)
            self.assertEqual((found.name, found.path), ("cgroup:12345678901", None))
            self.assertEqual(found.runtime, "")

    def test_no_cgroups(self):
        with self.assertRaises(cmt.Error) as caught:
            cmt.Containers("/nonexistent")
        self.assertEqual(caught.exception.errno, errno.ENOENT)

    def test_closed(self):
        containers = cmt.Containers(self.root)
        containers.close()
        with self.assertRaisesRegex(ValueError, "Containers is closed"):
            containers.lookup(1)

    def test_name(self):
        found = cmt.container_name(self.path)
        self.assertEqual((found.runtime, found.id, found.path), ("docker", self.ID, self.path))
        self.assertEqual(cmt.container_name("/a\udcff").name, "a?")
        with self.assertRaises(ValueError):
            cmt.container_name("/a\0b")


class PackageTest(unittest.TestCase):
    def test_layouts(self):
        # What the declarations say is compared with the compiler's at first use.
        ffi = cmt.types.ffi
        opaque = {f"cmt_{n}" for n in ("device", "reader", "slots", "tracker", "containers")}
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


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    bad = len(result.failures) + len(result.errors) + len(result.skipped)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad > 0)
