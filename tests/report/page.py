# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a page of cmtstat report, from what tools/report/stream.h says of it alone."""
import base64
import json
import math
import re
import zlib

SHARE, PARTIAL, HELD = 0x3f, 0x40, 0x80
THERE_WHOLE = 0xffff
ABSENT, UNKNOWN, SAME, VALUES, NOTED, BRIEF = range(6)


class Bytes:
    """A position in bytes."""

    def __init__(self, data, at=0, end=None):
        self.data, self.at = data, at
        self.end = len(data) if end is None else end

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)


class Point:
    """What a point says; None: not known."""

    def __init__(self, codes, there, note, meta):
        def value(code, bits, unit):
            if not code:
                return None
            code -= 1
            exponent = max(0, (code >> bits) - 1)
            return (code - (exponent << bits)) * 2 ** exponent * unit
        mean, least, most, rate, rate_most, local = codes
        self.mean, self.least, self.most = (
            value(code, meta['bits'], meta['unit']) for code in (mean, least, most))
        self.rate, self.rate_most = (
            value(code, meta['rate_bits'], meta['rate_unit']) for code in (rate, rate_most))
        self.local = None if not local or self.rate is None else \
            self.rate * (local - 1) / meta['local_parts']
        self.there = there / THERE_WHOLE
        self.note = note
        self.share = (note & SHARE) / SHARE

    def is_whole(self):
        """Known for all of its time, and no lower bound."""
        return self.note & (SHARE | PARTIAL) == SHARE


class Page:
    """A page that has all its points: cmtstat report --size 1G."""

    def __init__(self, path):
        with open(path, encoding='utf-8') as file:
            text = file.read()
        self.meta = json.loads(re.search(r'id="meta">(.*?)</script>', text, re.S).group(1))
        self.members = self.meta['members']
        self.blobs = {(int(level), int(block)): data for level, block, data in
                      re.findall(r'id="b(\d+)-(\d+)">([^<]*)<', text)}
        self.read = {}

    def numbers(self, kind):
        """The members of a kind."""
        return [n for n, m in enumerate(self.members) if m['kind'] == kind]

    def points(self, level, member):
        """{index: Point} of a member, those only in which something is known of it."""
        found = {}
        for (k, block) in self.blobs:
            if k == level:
                found.update(self.block(level, block).get(member, {}))
        return found

    def block(self, level, block):
        """{member: {index: Point}} of a block."""
        if (level, block) not in self.read:
            data = Bytes(zlib.decompress(base64.b64decode(self.blobs[level, block])))
            first = block * self.meta['block']
            members = {}
            while data.at < data.end:
                member, size = data.varint(), data.varint()
                members[member] = self.stream(Bytes(data.data, data.at, data.at + size),
                                              first, level == 0)
                data.at += size
            self.read[level, block] = members
        return self.read[level, block]

    def stream(self, data, index, fine):
        """{index: Point} of a container's stream."""
        points, codes, there, note = {}, [0] * 6, 0, 0
        while data.at < data.end:
            header = data.varint()
            kind = header & 7
            for _ in range((header >> 3) + 1):
                if kind >= VALUES:
                    there = data.varint() if kind == BRIEF else THERE_WHOLE
                    note = data.byte() if kind >= NOTED else SHARE
                    codes = self.values(data, codes, fine)
                if kind >= SAME:
                    points[index] = Point(codes, there, note, self.meta)
                index += 1
        return points

    @staticmethod
    def values(data, before, fine):
        """The codes of a point, of those of the one before."""
        mean = before[0] + data.signed()
        least = most = mean
        if mean and not fine:
            least -= data.varint()
            most += data.varint()
        rate = rate_most = before[3] + data.signed()
        if rate and not fine:
            rate_most += data.varint()
        return [mean, least, most, rate, rate_most, before[5] + data.signed()]


def mean(values):
    """Of those that are known; None: none is."""
    values = [value for value in values if value is not None]
    return math.fsum(values) / len(values) if values else None
