#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""agent [ROUNDS]: cache and bandwidth of each container, every 10 ms, till ^C."""
import itertools
import sys

import cmt


def print_row(frame: cmt.Frame, row: cmt.Row) -> None:
    """One line; "-" is what is not known, and what has ">" before it is a lower bound."""
    name = row.container.name if row.container else "(no container)"
    held = number(row.occupancy.last_bytes, row.occupancy.partial, 1024)
    rate = number(row.total.rate, row.total.partial, 1e6)
    print(f"{frame.start_ns / 1e9:.2f} s {held:>10} KiB"
          f"{' EMULATED' if row.emulated else ''} {rate:>8} MB/s  {name}")


def number(value: float | None, partial: bool, unit: float) -> str:
    """In units, or "-"."""
    return "-" if value is None else f"{'>' * partial}{value / unit:.1f}"


def main() -> None:
    """Errors say what helps: the module is not loaded, or no permission."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else None
    try:
        with cmt.Device() as device, cmt.Usage(device, interval_ns=10_000_000) as usage:
            for frame in itertools.islice(usage, rounds):
                for row in frame.rows:
                    print_row(frame, row)
    except cmt.Error as error:
        sys.exit(error.strerror)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
