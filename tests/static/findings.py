#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings of an analyzer that are not known to be false.
usage: findings.py KNOWN TOP <OUTPUT

OUTPUT is what gcc -fanalyzer or clang-tidy print.  A line of KNOWN has, separated by tabs,
file, check, the line of the source, and why the finding is false.  A finding that is known
and does not come is not said: versions of an analyzer differ."""
import os
import re
import sys

FINDING = re.compile(r'^(\S+?):(\d+):\d+: (?:warning|error): (.*) '
                     r'\[(?:CWE-\d+\] \[)?([\w.-]+)(?:,-warnings-as-errors)?\]$')
COLOUR = re.compile(r'\x1b\[[0-9;]*[mK]')


def known_findings(path):
    with open(path, encoding='utf-8') as file:
        lines = [line.rstrip('\n') for line in file]
    rows = [line.split('\t') for line in lines if line and not line.startswith('#')]
    for row in rows:
        if len(row) != 4 or not row[3]:
            sys.exit(f'{path}: not file, check, source and reason: {row}')
    return {tuple(row[:3]) for row in rows}


def source_line(top, path, number):
    with open(os.path.join(top, path), encoding='utf-8') as file:
        return file.read().split('\n')[number - 1].strip()


def main():
    known, top = known_findings(sys.argv[1]), os.path.realpath(sys.argv[2])
    bad = set()
    for line in sys.stdin:
        line = COLOUR.sub('', line.rstrip('\n'))
        found = FINDING.match(line)
        if not found:
            if re.search(r'(^|: )(fatal )?error: ', line):
                bad.add(line)
            continue
        path = os.path.relpath(os.path.join(top, found[1]), top)
        source = source_line(top, path, int(found[2]))
        if (path, found[4], source) not in known:
            bad.add(f'{path}:{found[2]}: {found[3]} [{found[4]}]\n    {source}')
    print('\n'.join(sorted(bad)))
    sys.exit(bool(bad))


main()
