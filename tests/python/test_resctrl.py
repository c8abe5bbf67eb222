# SPDX-License-Identifier: GPL-2.0-or-later
"""cmt.Resctrl, on libcmt.so.1 as it ships and a directory that looks like resctrl."""
import errno
import os
import sys
import tempfile
import unittest

import cmt

MS = 1_000_000
MIB = 1 << 20


class ResctrlTest(unittest.TestCase):
    """A directory laid out as resctrl, with one L3 domain."""

    FILES = ("llc_occupancy", "mbm_total_bytes", "mbm_local_bytes")

    def setUp(self):
        room = tempfile.TemporaryDirectory(prefix="cmt-groups.")
        self.addCleanup(room.cleanup)
        self.root = room.name
        os.makedirs(f"{self.root}/info/L3_MON")
        with open(f"{self.root}/info/L3_MON/mon_features", "w", encoding="ascii") as out:
            out.write("\n".join(self.FILES) + "\n")
        with open(f"{self.root}/info/L3_MON/num_rmids", "w", encoding="ascii") as out:
            out.write("64\n")
        os.mkdir(f"{self.root}/mon_groups")
        self.group(".", ("0", "0", "0"))

    def group(self, name, texts):
        directory = f"{self.root}/{name}/mon_data/mon_L3_00"
        os.makedirs(directory)
        for file, said in zip(self.FILES, texts):
            with open(f"{directory}/{file}", "w", encoding="ascii") as out:
                out.write(said + "\n")

    def samples(self, device):
        """What the first reading of all groups says, by the name of the group."""
        names = {owner.rmid: device.cgroup_path(owner.cgroup_id)
                 for owner in device.snapshot().owners}
        found = {}
        with cmt.Reader(device) as reader:
            for record in reader:
                if isinstance(record, cmt.Sample):
                    found[names.get(record.rmid, "/")] = record
                if isinstance(record, cmt.Tick):
                    return found

    def test_values(self):
        self.group("mon_groups/web", (str(3 * MIB), "Unavailable", "Error"))
        with cmt.Resctrl(self.root, interval_ns=10 * MS, l3_bytes=8 * MIB) as device:
            self.assertIs(device.info.backend, cmt.Backend.RESCTRL)
            self.assertFalse(device.info.emulated)
            self.assertEqual(device.info.l3_bytes, 8 * MIB)
            web = self.samples(device)["/mon_groups/web"]
            self.assertEqual(web.occupancy_bytes, 3 * MIB)
            self.assertIsNone(web.mbm_total_bytes)
            self.assertIsNone(web.mbm_local_bytes)
            self.assertIn(cmt.Flag.UNAVAILABLE, web.flags)
            self.assertIn(cmt.Flag.ERROR, web.flags)
            with self.assertRaises(cmt.Error) as caught:
                device.set_interval(MS)
            self.assertEqual(caught.exception.errno, errno.EOPNOTSUPP)

    def test_usage(self):
        self.group("web", (str(2 * MIB), "0", "0"))
        with (cmt.Resctrl(self.root, interval_ns=10 * MS) as device,
              cmt.Usage(device, interval_ns=50 * MS) as usage):
            rows = {row.container.name: row for row in next(iter(usage)).rows if row.container}
        self.assertEqual(rows["web"].occupancy.last_bytes, 2 * MIB)

    def test_open_says_why(self):
        for path, options, number, says in (
                (f"{self.root}/gone", {}, errno.ENOENT, "mount -t resctrl"),
                (self.root, {"interval_ns": 1}, errno.EINVAL, self.root)):
            with self.assertRaises(cmt.Error) as caught:
                cmt.Resctrl(path, **options)
            self.assertEqual(caught.exception.errno, number)
            self.assertIn(says, str(caught.exception))
        with self.assertRaises(ValueError):
            cmt.Resctrl("a\0b")
        with self.assertRaises(OverflowError):
            cmt.Resctrl(self.root, interval_ns=-1)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    bad = len(result.failures) + len(result.errors) + len(result.skipped)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad > 0)
