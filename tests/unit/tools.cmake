# SPDX-License-Identifier: GPL-2.0-or-later
# Unit tests of tools/: include()d where cmt_unit_test() is defined.
foreach(unit agree beside board cgroups findings flight format idle_domain judge lead marks meter options patterns remedy rows settings slower views why)
	cmt_unit_test(${unit} tools/test_${unit}.c)
	target_link_libraries(test_${unit} PRIVATE cmt_tools)
endforeach()
target_sources(test_flight PRIVATE recording.c)
cmt_unit_test(diff tools/test_diff.c recording.c ${CMAKE_SOURCE_DIR}/tools/export/diff_sums.c
	${CMAKE_SOURCE_DIR}/tools/export/span.c)
target_link_libraries(test_diff PRIVATE cmt_tools)
# The terminal is made up.
cmt_unit_test(live tools/test_live.c ${CMAKE_SOURCE_DIR}/tools/board/live.c)
target_link_libraries(test_live PRIVATE cmt_tools)
cmt_unit_test(saves tools/test_saves.c
	${CMAKE_SOURCE_DIR}/tools/recorder/record_sync.c
	${CMAKE_SOURCE_DIR}/tools/recorder/save.c)
target_link_libraries(test_saves PRIVATE cmt_filter)
target_link_options(test_saves PRIVATE LINKER:--wrap=unlinkat)
cmt_unit_test(trigger tools/test_trigger.c ${CMAKE_SOURCE_DIR}/tools/recorder/trigger.c)
target_link_libraries(test_trigger PRIVATE cmt_tools)
target_link_options(test_trigger PRIVATE
	LINKER:--wrap=cmt_usage_next,--wrap=cmt_usage_timeout,--wrap=cmt_usage_refresh,--wrap=clock_ns
	LINKER:--wrap=cmt_culprit_add_frame,--wrap=cmt_culprit_next)
# Another limit of time
cmt_unit_test(save tools/test_save.c ${CMAKE_SOURCE_DIR}/tools/cmtctl/save.c)
target_link_libraries(test_save PRIVATE cmt_tools)
target_link_options(test_save PRIVATE LINKER:--wrap=setsockopt)
cmt_unit_test(selftest_page tools/test_selftest_page.c
	${CMAKE_SOURCE_DIR}/tools/cmtctl/resctrl.c ${CMAKE_SOURCE_DIR}/tools/cmtctl/selftest_page.c)
target_link_libraries(test_selftest_page PRIVATE cmt_tools)
cmt_unit_test(exporter tools/test_exporter.c)
target_link_libraries(test_exporter PRIVATE cmt_exporter)
cmt_unit_test(report tools/test_report.c)
target_link_libraries(test_report PRIVATE cmt_report)
# The page's content is made up.
cmt_unit_test(served tools/test_served.c)
target_link_libraries(test_served PRIVATE cmt_exporter)
target_link_options(test_served PRIVATE LINKER:--wrap=clock_gettime)
# Time and the records are made up.
cmt_unit_test(turns tools/test_turns.c)
target_link_libraries(test_turns PRIVATE cmt_exporter)
target_link_options(test_turns PRIVATE
	LINKER:--wrap=clock_gettime,--wrap=cmt_usage_next,--wrap=capture_pump)
