#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""agent [ROUNDS]: cache and bandwidth of each container, every 10 ms, till ^C."""
import itertools
import sys

import cmt


def print_row(frame: cmt.Frame, row: cmt.Row) -> None:
    """One line; "-" is what is not known."""
    name = row.container.name if row.container else "(no container)"
    held, rate = row.occupancy.last_bytes, row.total.rate
    print(f"{frame.start_ns / 1e9:.2f} s "
          f"{'-' if held is None else f'{held / 1024:.1f}':>10} KiB"
          f"{' EMULATED' if row.emulated else ''} "
          f"{'-' if rate is None else f'{rate / 1e6:.1f}':>8} MB/s  {name}")


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
