# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of docs/fleet, for the time that cmt-made makes up."""
import os

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
WORDS = {"@NAME@": "docker:web", "@FROM@": "2026-06-01 00:00:00", "@TO@": "2026-06-01 06:00:00",
         "@DAY@": "2026-06-01"}


def sql(name, database="cmt"):
    with open(os.path.join(TOP, "docs/fleet", name), encoding="ascii") as file:
        text = file.read()
    for word, value in WORDS.items():
        text = text.replace(word, value)
    return text.replace("cmt.", database + ".").replace("EXISTS cmt;", f"EXISTS {database};")
