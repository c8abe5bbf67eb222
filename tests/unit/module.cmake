# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the module's own sources, compiled in user space: shim/ stands in
# for the kernel's headers, shim/fake.[ch] for a machine with monitoring MSRs.
set(CMT_MODULE_DIR ${PROJECT_SOURCE_DIR}/module)
set(CMT_SHIM_DIR ${PROJECT_SOURCE_DIR}/tests/unit/shim)

# cmt_module_test(name test sources...): as cmt_unit_test() of the test in module/, with
# the shim.  The kernel does not warn of unused parameters and mixed signs in comparisons.
function(cmt_module_test name test)
	cmt_unit_test(${name} module/${test} ${ARGN})
	target_include_directories(test_${name} BEFORE PRIVATE
		${CMT_SHIM_DIR} ${CMT_MODULE_DIR})
	target_compile_options(test_${name} PRIVATE
		-Wno-unused-parameter -Wno-sign-compare)
endfunction()

cmt_module_test(model test_model.c ${CMT_MODULE_DIR}/hw/model.c)

cmt_module_test(hw test_hw.c ${CMT_SHIM_DIR}/fake.c
	${CMT_MODULE_DIR}/hw/hw.c ${CMT_MODULE_DIR}/hw/hw_read.c
	${CMT_MODULE_DIR}/hw/hw_abmc.c ${CMT_MODULE_DIR}/hw/hw_bmec.c
	${CMT_MODULE_DIR}/hw/burst.c ${CMT_MODULE_DIR}/hw/counter.c
	${CMT_MODULE_DIR}/hw/topology.c)
target_compile_options(test_hw PRIVATE -include ${CMT_SHIM_DIR}/fake.h)

cmt_module_test(emulated test_emulated.c ${CMT_SHIM_DIR}/fake.c
	${CMT_MODULE_DIR}/hw/emulated.c ${CMT_MODULE_DIR}/hw/model.c
	${CMT_MODULE_DIR}/hw/burst.c ${CMT_MODULE_DIR}/hw/counter.c
	${CMT_MODULE_DIR}/hw/topology.c)
target_compile_options(test_emulated PRIVATE -include ${CMT_SHIM_DIR}/fake.h)

cmt_module_test(software test_software.c ${CMT_SHIM_DIR}/fake.c
	${CMT_MODULE_DIR}/hw/software.c ${CMT_MODULE_DIR}/hw/topology.c)
target_compile_options(test_software PRIVATE -include ${CMT_SHIM_DIR}/fake.h)

cmt_module_test(burst test_burst.c ${CMT_SHIM_DIR}/fake.c
	${CMT_MODULE_DIR}/hw/burst.c ${CMT_MODULE_DIR}/hw/counter.c)
target_compile_options(test_burst PRIVATE -include ${CMT_SHIM_DIR}/fake.h)

cmt_module_test(pmon test_pmon.c ${CMT_MODULE_DIR}/uncore/pmon_table.c)
cmt_module_test(erdt_table test_erdt_table.c ${CMT_MODULE_DIR}/hw/erdt_table.c)
cmt_module_test(domains test_domains.c)
cmt_module_test(plza test_plza.c)
cmt_module_test(rdtgroup test_rdtgroup.c ${CMT_MODULE_DIR}/cpu/rdtgroup.c)
cmt_module_test(perf_sum test_perf_sum.c)
cmt_module_test(perf_events test_perf_events.c ${CMT_SHIM_DIR}/fake.c
	${CMT_MODULE_DIR}/cpu/perf_events.c)
target_compile_options(test_perf_events PRIVATE -include ${CMT_SHIM_DIR}/fake.h)
cmt_module_test(notes test_notes.c ${CMT_MODULE_DIR}/cpu/notes.c)
target_compile_options(test_notes PRIVATE -include ${CMT_SHIM_DIR}/fake.h)
cmt_module_test(walk test_walk.c ${CMT_MODULE_DIR}/cpu/walk.c)
cmt_module_test(rmid test_rmid.c ${CMT_MODULE_DIR}/owner/rmid.c)
cmt_module_test(ring_size test_ring_size.c ${CMT_MODULE_DIR}/ring/size.c)
target_compile_options(test_ring_size PRIVATE -include ${CMT_SHIM_DIR}/fake.h)
target_compile_definitions(test_ring_size PRIVATE
	OVERHEAD="${PROJECT_SOURCE_DIR}/docs/overhead.md")
cmt_module_test(rings test_rings.c ${CMT_MODULE_DIR}/ring/ring.c ${CMT_MODULE_DIR}/ring/size.c
	${CMT_MODULE_DIR}/ring/writer.c)
target_compile_options(test_rings PRIVATE -include ${CMT_SHIM_DIR}/one_cpu.h)
cmt_module_test(ring_writer test_ring_writer.c ${CMT_MODULE_DIR}/ring/writer.c)
cmt_module_test(state_settings test_state_settings.c ${CMT_MODULE_DIR}/ring/settings.c)
target_compile_options(test_state_settings PRIVATE -include ${CMT_SHIM_DIR}/one_cpu.h)
cmt_module_test(counter test_counter.c ${CMT_MODULE_DIR}/hw/counter.c)
cmt_module_test(pattern test_pattern.c ${CMT_MODULE_DIR}/scope/pattern.c)

# cmt_rooms_test(name source): test_name.c of one file of the upper rooms.
function(cmt_rooms_test name source)
	cmt_module_test(${name} test_${name}.c ${CMT_MODULE_DIR}/${source})
	target_compile_options(test_${name} PRIVATE -include ${CMT_SHIM_DIR}/rooms.h)
endfunction()

cmt_rooms_test(hotplug hotplug.c)
cmt_rooms_test(sampler sample/sampler.c)
cmt_rooms_test(perf_want cpu/perf_want.c)
cmt_rooms_test(waits scope/waits.c)
cmt_rooms_test(probes scope/probes.c)
