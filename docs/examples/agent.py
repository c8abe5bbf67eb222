#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""agent [ROUNDS]: what each container holds of the cache, every 10 ms, till ^C."""
import itertools
import sys
from collections import Counter

import cmt


def print_slot(slot: cmt.Slot, containers: cmt.Containers, emulated: str) -> None:
    """A container has many processes, maybe in cgroups of their own: add them up."""
    totals: Counter[str] = Counter()
    for entry in slot.entries:
        if entry.owner is None or entry.occupancy_bytes is None:
            continue
        name = "(others)"  # without a cgroup: a CPU, or all who wait for an RMID
        if entry.owner.cgroup_id:
            name = containers.lookup(entry.owner.cgroup_id).name
        totals[name] += entry.occupancy_bytes
    for name, size in totals.items():
        print(f"{slot.start_ns / 1e9:.2f} s {size / 1024:10.1f} KiB{emulated}  {name}")
    if slot.lost:
        print(f"{slot.lost} records lost")


def follow(rounds: int | None) -> None:
    """Print so many slots, or all there are."""
    with (cmt.Device() as device, cmt.Containers() as containers,
          cmt.Slots(device, slot_ns=10_000_000) as slots,
          cmt.Reader(device) as reader):
        emulated = " EMULATED" if device.info.emulated else ""
        for slot in itertools.islice(slots.follow(reader), rounds):
            print_slot(slot, containers, emulated)


def main() -> None:
    """Errors say what helps: the module is not loaded, or no permission."""
    try:
        follow(int(sys.argv[1]) if sys.argv[1:] else None)
    except cmt.Error as error:
        sys.exit(error.strerror)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
