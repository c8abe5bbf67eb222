// SPDX-License-Identifier: GPL-2.0-or-later
/* What CPUs note of RMIDs for later samples, module/cpu/notes.c. */
#include <check.h>
#include <pthread.h>

#include <linux/bitops.h>
#include <linux/slab.h>

#include "cpu/notes.h"
#include "hw/hw.h"
#include "unit.h"

#define ROUNDS	1000000U
#define ROOM	128

struct fake_machine fake = { .nr_cpus = 2 };
u32 fake_cpu;
struct cmt_backend_caps cmt_caps = { .nr_rmids = 100, .rmid_room = ROOM };
const struct cmt_backend *cmt_backend;

static struct cmt_notes *notes;

static void setup(void)
{
	notes = cmt_notes_new(0);
	ck_assert(notes && !cmt_notes_any(notes));
}

/* The notes of RMIDs in samples that one CPU writes */
static bool take(u32 rmid)
{
	bool noted = test_bit(rmid, notes->overwritten);

	if (noted)
		clear_bit(rmid, notes->overwritten);
	return noted;
}

START_TEST(test_notes_are_there_until_taken)
{
	u32 made;

	cmt_note_overwritten(0, 7);
	cmt_note_inherited(99);
	cmt_note_overwritten(0, 100);	/* no tick reads it */
	ck_assert(cmt_notes_any(notes));
	made = cmt_notes_begin(notes);
	ck_assert(take(7) && !take(100));
	cmt_notes_end(notes, made);
	ck_assert(cmt_notes_any(notes));
	made = cmt_notes_begin(notes);
	clear_bit(99, notes->inherited);
	cmt_notes_end(notes, made);
	ck_assert(!cmt_notes_any(notes));
}
END_TEST

/* While CPU 0 writes its samples, CPU 1 does not miss its note, made before or meanwhile. */
START_TEST(test_notes_of_another_cpu)
{
	u32 made;

	cmt_note_overwritten(0, 1);
	if (!_i)
		cmt_note_overwritten(0, 2);
	made = cmt_notes_begin(notes);
	if (_i)
		cmt_note_overwritten(0, 2);
	ck_assert_msg(cmt_notes_any(notes), "CPU 1 misses its note");
	ck_assert(take(1));
	ck_assert_msg(cmt_notes_any(notes), "CPU 1 misses its note");
	ck_assert(take(2));
	cmt_notes_end(notes, made);
	/* the end may not know yet of a note that was made meanwhile */
	made = cmt_notes_begin(notes);
	cmt_notes_end(notes, made);
	ck_assert(!cmt_notes_any(notes));
}
END_TEST

/* An RMID has a new owner: what was noted of the last one ends. */
START_TEST(test_notes_end_with_the_owner)
{
	u32 made;

	cmt_note_overwritten(0, 3);
	cmt_note_inherited(3);
	cmt_notes_drop(3);
	ck_assert(!take(3) && !test_bit(3, notes->inherited));
	made = cmt_notes_begin(notes);
	cmt_notes_end(notes, made);
	ck_assert(!cmt_notes_any(notes));
}
END_TEST

static bool stop;

/* CPU 0, whose samples are of RMID 1 and sometimes of RMID 2 */
static void *cpu_0(void *unused)
{
	u32 made, i;

	(void)unused;
	for (i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		cmt_note_overwritten(0, 1);
		made = cmt_notes_begin(notes);
		take(1);
		if (i & 1)
			take(2);
		cmt_notes_end(notes, made);
	}
	return NULL;
}

/* CPU 1 is the only one that notes RMID 2: if the bit is there, it was there before. */
START_TEST(test_notes_of_two_cpus)
{
	u32 i, n = unit_rounds(ROUNDS), missed = 0, made;
	pthread_t thread;

	ck_assert(!pthread_create(&thread, NULL, cpu_0, NULL));
	for (i = 0; i < n; i++) {
		cmt_note_overwritten(0, 2);
		if (!cmt_notes_any(notes))
			missed += test_bit(2, notes->overwritten);
		made = cmt_notes_begin(notes);
		take(2);
		cmt_notes_end(notes, made);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ck_assert_msg(!missed, "CPU 1 misses %u of %u notes", missed, n);
}
END_TEST

START_TEST(test_notes_without_memory)
{
	for (shim_allocs_left = 0; shim_allocs_left < 2; shim_allocs_left++) {
		int left = shim_allocs_left;

		ck_assert(!cmt_notes_new(1));
		shim_allocs_left = left;
	}
	shim_allocs_left = -1;
	ck_assert(cmt_notes_new(1) && cmt_notes_new(1) == cmt_notes_new(1));
	cmt_notes_free();
	ck_assert(!shim_allocs_live);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("notes");
	TCase *tests = tcase_create("notes");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, test_notes_are_there_until_taken);
	tcase_add_loop_test(tests, test_notes_of_another_cpu, 0, 2);
	tcase_add_test(tests, test_notes_end_with_the_owner);
	tcase_add_test(tests, test_notes_of_two_cpus);
	tcase_add_test(tests, test_notes_without_memory);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
