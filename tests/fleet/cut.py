# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of recordings, as cmt-recorder saves them: chunks of the middle, behind a HEAD and names."""
import struct


def chunks(data):
    at = 0
    while at < len(data):
        head, kind = struct.unpack_from("<I", data, at + 12)[0], data[at + 16]
        size = head + struct.unpack_from("<I", data, at + 28)[0]
        yield kind, data[at:at + size]
        at += size


def write_part(whole, path, first, end):
    """A recording of some chunks of another one; the chunks are those from @first to @end."""
    with open(whole, "rb") as file:
        parts = list(chunks(file.read()))
    bodies = [i for i, (kind, _) in enumerate(parts) if kind in (2, 4)]
    keep = set(bodies[int(first * len(bodies)):int(end * len(bodies))])
    with open(path, "wb") as file:
        for i, (kind, chunk) in enumerate(parts):
            if (kind in (1, 3) and i < bodies[0]) or i in keep:
                file.write(chunk)
    return path
