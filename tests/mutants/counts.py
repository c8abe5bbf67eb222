# SPDX-License-Identifier: GPL-2.0-or-later
"""The checks of a program, and its last line."""

passed = failed = 0


def check(name, good):
    global passed, failed
    passed += bool(good)
    failed += not good
    print("%s - %s" % ("ok" if good else "not ok", name), flush=True)


def finish():
    """Prints the last line, and returns the status."""
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0
