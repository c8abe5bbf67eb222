# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of what cmtstat export writes, which share nothing with what writes it."""
import re
import struct


def schema(path, table='usage'):
    """The columns of a table that are written: a list of (name, type)."""
    with open(path, encoding='ascii') as file:
        text = re.sub(r'--.*', '', file.read())
    body = re.search(rf'CREATE TABLE[^(]*cmt\.{table}\s*\((.*?)\)\s*ENGINE', text, re.S).group(1)
    columns = re.findall(r"^\s*(\w+)\s+((?:Nullable\(\w+\)|Enum8\(.*?\)|\w+))(.*?),?$", body, re.M)
    return [(name, kind) for name, kind, rest in columns if 'MATERIALIZED' not in rest]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


PLAIN = {'UInt8': '<B', 'UInt32': '<I', 'UInt64': '<Q', 'Float32': '<f'}


def _value(data, at, kind):
    if kind == 'String':
        size, at = varint(data, at)
        if at + size > len(data):
            raise ValueError('a text is cut')
        return data[at:at + size], at + size
    if kind.startswith('Enum8'):
        words = {int(n): w for w, n in re.findall(r"'(\w+)' = (\d+)", kind)}
        return words[data[at]], at + 1
    form = PLAIN[kind]
    return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)


def rowbinary(data, columns):
    """The rows of RowBinary, as dictionaries; NULL is None."""
    at, rows = 0, []
    while at < len(data):
        row = {}
        for name, kind in columns:
            if kind.startswith('Nullable'):
                null = data[at]
                at += 1
                if null > 1:
                    raise ValueError(f'{name}: {null} is no flag')
                if null:
                    row[name] = None
                    continue
                kind = kind[9:-1]
            row[name], at = _value(data, at, kind)
        rows.append(row)
    return rows


def fields(data):
    """The fields of a protobuf message: (number, value)."""
    at, out = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from('<d', data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            if len(value) != size:
                raise ValueError('a field is cut')
            at += size
        else:
            raise ValueError(f'wire type {kind}')
        out.append((tag >> 3, value))
    return out


class Trace:
    """What a viewer would show of a trace of Perfetto."""

    def __init__(self, data):
        self.names, self.parents, self.units = {}, {}, {}
        self.points = {}        # uuid: [(ns, value)]
        self.slices = {}        # uuid: [(begin, end, name)]
        self.clocks = {}
        self.open = {}
        for number, packet in fields(data):
            if number != 1:
                raise ValueError('no packet')
            self._packet(dict(fields(packet)))
        if any(self.open.values()):
            raise ValueError('a slice does not end')

    def _packet(self, packet):
        if packet[10] != 1:
            raise ValueError('no sequence')
        if 60 in packet:
            self._descriptor(dict(fields(packet[60])))
        elif 11 in packet:
            self._event(packet[8], dict(fields(packet[11])))
        elif 6 in packet:
            for _, clock in fields(packet[6]):
                clock = dict(fields(clock))
                self.clocks[clock[1]] = clock[2]

    def _descriptor(self, track):
        uuid = track[1]
        if uuid in self.names:
            raise ValueError('a track is there twice')
        self.names[uuid] = track[2].decode('utf-8')
        self.parents[uuid] = track.get(5)
        if 8 in track:
            self.units[uuid] = dict(fields(track[8]))

    def _event(self, ns, event):
        uuid, kind = event[11], event[9]
        if uuid not in self.names:
            raise ValueError('an event comes before its track')
        if kind == 4:
            points = self.points.setdefault(uuid, [])
            if points and ns < points[-1][0]:
                raise ValueError('time goes back')
            points.append((ns, event[30] if 30 in event else event[44]))
        elif kind == 1:
            if self.open.get(uuid):
                raise ValueError('two slices at once')
            self.open[uuid] = (ns, event[23].decode('utf-8'))
        else:
            begin, name = self.open.pop(uuid)
            self.slices.setdefault(uuid, []).append((begin, ns, name))

    def track(self, name):
        return next(u for u, n in self.names.items() if n == name and not self.parents[u])

    def counter(self, track, name):
        uuid = next((u for u, p in self.parents.items()
                     if p == self.track(track) and self.names[u] == name), None)
        return self.points.get(uuid, [])
