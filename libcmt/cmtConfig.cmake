# SPDX-License-Identifier: LGPL-2.1-or-later
# find_package(cmt) gives the targets cmt::cmt and cmt::cmt_static.
include("${CMAKE_CURRENT_LIST_DIR}/cmtTargets.cmake")
