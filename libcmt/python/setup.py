# SPDX-License-Identifier: LGPL-2.1-or-later
"""
What pyproject.toml cannot say, or only in a section that setuptools 66 calls
beta: the version, which has one place, cffi, and the files of the package.
"""
import re
from pathlib import Path

from setuptools import setup

HEADER = Path(__file__).resolve().parent / "../../module/version.h"
VERSION = re.search(r'#define CMT_VERSION "(.*)"', HEADER.read_text())
assert VERSION

setup(
    version=VERSION[1],
    packages=["cmt"],
    package_data={"cmt": ["py.typed", "*.pyi"]},
    cffi_modules=["build_cmt.py:builder"],
)
