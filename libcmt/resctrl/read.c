// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The values of resctrl's groups.
 *
 * The files of a control group count its monitoring groups, too.  The monitoring groups
 * are read first and subtracted, so the difference is too large by their traffic in
 * between, and never too small.  The difference may then step back by as much: such a
 * step counts as no traffic.
 *
 * The kernel adds up the RMIDs that have a value and leaves out the others, also the
 * control group's own.  Such a sum is a number, too, and the RMID comes back with all the
 * traffic of its life.  So each reading keeps what the own traffic is at least: the file
 * of the reading before, minus the monitoring groups now.  A difference below that is no
 * value of the group.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

#define VALUE_MAX	64	/* bytes of a file that can be a value */
#define READ_TRIES	4	/* readings until no group moves meanwhile */
#define RESTARTED	16	/* readings in a row after which a smaller value is right */

const uint32_t cmt_resctrl_flags[NR_RESCTRL_VALUES] = {
	[RESCTRL_OCCUPANCY] = CMT_F_OCCUPANCY,
	[RESCTRL_TOTAL] = CMT_F_MBM_TOTAL,
	[RESCTRL_LOCAL] = CMT_F_MBM_LOCAL,
};

const char *const cmt_resctrl_files[NR_RESCTRL_VALUES] = {
	[RESCTRL_OCCUPANCY] = "llc_occupancy",
	[RESCTRL_TOTAL] = "mbm_total_bytes",
	[RESCTRL_LOCAL] = "mbm_local_bytes",
};

/* The sum of the monitoring groups of the next control group, in one domain */
struct below {
	uint64_t values[NR_RESCTRL_VALUES];
	uint64_t first[NR_RESCTRL_VALUES];	/* of groups that had no value before */
	uint32_t nr;		/* groups */
	uint32_t missing;	/* CMT_F_*: some group's value is not known */
	bool stepped;		/* some group's counter stepped back */
};

static bool is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(text, word, n);
}

/* Digits only: strtoull(3) takes signs and space. */
static bool parse_number(const char *text, size_t n, uint64_t *value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t digit = (uint64_t)(text[i] - '0');

		if (text[i] < '0' || text[i] > '9' ||
		    __builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, digit, &sum))
			return false;
	}
	*value = sum;
	return n;
}

uint32_t cmt_resctrl_parse(const char *text, size_t n, uint64_t *value)
{
	if (n && text[n - 1] == '\n')
		n--;
	if (parse_number(text, n, value))
		return 0;
	return is_word(text, n, "Unavailable") || is_word(text, n, "Unassigned") ?
	       CMT_F_UNAVAILABLE : CMT_F_ERROR;
}

static void file_close(struct resctrl *r, struct resctrl_file *file)
{
	if (file->fd >= 0) {
		close(file->fd);
		r->files--;
	}
	file->fd = -1;
}

void cmt_resctrl_cell_close(struct resctrl *r, struct resctrl_cell *cell)
{
	for (uint32_t v = 0; v < NR_RESCTRL_VALUES; v++)
		file_close(r, &cell->files[v]);
}

/* O_NONBLOCK: a directory that is not resctrl may have a FIFO there. */
static int open_file(const struct resctrl *r, const struct resctrl_group *group,
		     uint32_t domain, uint32_t value)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/mon_data/mon_L3_%02u/%s", group->path,
		     domain, cmt_resctrl_files[value]) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = openat(r->root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW |
		    O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* Where no more files may be open, a file is opened for each reading. */
static void file_keep(struct resctrl *r, struct resctrl_file *file, int fd)
{
	if (r->files >= r->files_max) {
		close(fd);
		return;
	}
	file->fd = fd;
	r->files++;
}

/* Returns 0, -errno: the file cannot be read, or *flags of CMT_F_* that hold. */
static int file_read(struct resctrl *r, const struct resctrl_group *group,
		     uint32_t domain, uint32_t value, struct resctrl_file *file,
		     uint32_t *flags)
{
	bool opened = file->fd < 0;
	int fd = opened ? open_file(r, group, domain, value) : file->fd;
	char text[VALUE_MAX];
	ssize_t n;

	file->known = false;
	if (fd < 0)
		return fd;
	n = pread(fd, text, sizeof(text), 0);
	if (n < 0)
		n = -errno;
	if (opened)
		file_keep(r, file, fd);
	if (n < 0)
		return (int)n;
	*flags = cmt_resctrl_parse(text, (size_t)n, &file->value);
	file->known = !*flags;
	return 0;
}

/* Returns 0, or CMT_F_*: why there is no value. */
static uint32_t value_read(struct resctrl *r, const struct resctrl_group *group,
			   uint32_t d, uint32_t value)
{
	struct resctrl_file *file = &group->cells[d].files[value];
	uint32_t why = 0;
	int err = file_read(r, group, r->domains[d], value, file, &why);

	if (err) {
		file_close(r, file);
		why = err == -EIO ? CMT_F_ERROR : CMT_F_UNAVAILABLE;
	}
	r->stats.read_errors += !!(why & CMT_F_ERROR);
	r->stats.read_unavailable += !!(why & CMT_F_UNAVAILABLE);
	return why;
}

/* Read the files of one domain. */
static void cell_read(struct resctrl *r, const struct resctrl_group *group, uint32_t d)
{
	struct resctrl_cell *cell = &group->cells[d];

	cell->why = 0;
	for (uint32_t v = 0; v < NR_RESCTRL_VALUES; v++)
		if (r->info.events & cmt_resctrl_flags[v])
			cell->why |= value_read(r, group, d, v);
	cell->ts = cmt_resctrl_stamp(r);
}

/* Returns @a - @b, or 0. */
static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Occupancy may shrink between the reading of a monitoring group and that of its control
 * group, by little.  Traffic does not.
 */
static bool lacks_groups(uint32_t value, uint64_t file, uint64_t under)
{
	uint64_t shrunk = value == RESCTRL_OCCUPANCY ? under / 8 : 0;

	return less(under, file) > shrunk;
}

/*
 * False: the traffic @alone lacks the group's own RMID.  A counter that begins anew is
 * smaller for good, and is proven to be more than none.
 */
static bool is_whole(struct resctrl_counter *counter, uint64_t alone, uint64_t proven)
{
	if (alone >= counter->least) {
		counter->nr_lower = 0;
		return true;
	}
	counter->nr_lower = proven ? counter->nr_lower + 1 : 0;
	if (counter->nr_lower < RESTARTED)
		return false;
	counter->nr_lower = 0;
	counter->least = proven;
	return true;
}

/*
 * Returns is_whole() of this reading.  A monitoring group without an earlier value may have
 * counted as the control group's own.  @rebase: the last reading has other monitoring
 * groups, and proves nothing.
 */
static bool set_least(struct resctrl_counter *counter, const struct below *below,
		      uint32_t value, uint64_t file, bool rebase)
{
	uint64_t under = below->values[value], alone = less(file, under);
	uint64_t proven = rebase ? 0 : less(counter->file, under);

	counter->least = less(counter->least, below->first[value]);
	if (counter->least < proven)
		counter->least = proven;
	counter->file = file;
	if (below->nr)
		return is_whole(counter, alone, proven);
	counter->least = alone;
	return true;
}

/* Own traffic of which there was no sign may be the life of an RMID that came back. */
static bool came_back(const struct resctrl_counter *counter, uint64_t alone, uint64_t under)
{
	return !counter->least && less(alone, counter->last) > less(under, counter->under);
}

/*
 * Add the traffic since the last reading.  Returns CMT_F_REBASED where it is unknown:
 * @rebase, or without a previous reading.
 */
static uint32_t counter_add(struct resctrl_counter *counter, uint64_t value, bool rebase)
{
	if (!counter->based || rebase) {
		counter->based = true;
		counter->last = value;
		return CMT_F_REBASED;
	}
	if (value > counter->last) {
		counter->sum += value - counter->last;
		counter->last = value;
	}
	return 0;
}

/* The traffic of the group without the groups below it.  Returns CMT_F_*. */
static uint32_t traffic_of(struct resctrl_counter *counter, const struct below *below,
			   uint32_t value, uint64_t file, bool rebase)
{
	uint64_t under = below->values[value], alone = less(file, under);
	uint32_t flags;

	if (!set_least(counter, below, value, file, rebase)) {
		counter->based = false;
		return CMT_F_UNAVAILABLE;
	}
	if (below->nr)
		rebase |= came_back(counter, alone, under);
	else
		rebase |= alone < counter->last;
	flags = counter_add(counter, alone, rebase);
	counter->under = under;
	return flags | cmt_resctrl_flags[value];
}

/* There is no value of the group alone. */
static uint32_t no_value(struct resctrl_cell *cell, const struct below *below,
			 uint32_t value)
{
	struct resctrl_counter *counter = &cell->counters[value];
	bool known = cell->files[value].known;

	counter->based = false;
	counter->file = 0;
	counter->least = less(counter->least, below->first[value]);
	return known || below->missing & cmt_resctrl_flags[value] ? CMT_F_UNAVAILABLE : 0;
}

static void add_value(struct cmt_record *record, struct resctrl_cell *cell,
		      const struct below *below, uint32_t value, bool rebase)
{
	const struct resctrl_file *file = &cell->files[value];
	uint64_t under = below->values[value];

	if (!file->known || below->missing & cmt_resctrl_flags[value] ||
	    lacks_groups(value, file->value, under))
		record->flags |= no_value(cell, below, value);
	else if (value == RESCTRL_OCCUPANCY)
		record->flags |= CMT_F_OCCUPANCY;
	else
		record->flags |= traffic_of(&cell->counters[value], below, value,
					    file->value, rebase);
	if (!(record->flags & cmt_resctrl_flags[value]))
		return;
	if (value == RESCTRL_OCCUPANCY)
		record->sample.occupancy_bytes = less(file->value, under);
	else if (value == RESCTRL_TOTAL)
		record->sample.mbm_total_bytes = cell->counters[value].sum;
	else
		record->sample.mbm_local_bytes = cell->counters[value].sum;
}

static void add_file(struct below *sum, const struct resctrl_cell *cell, uint32_t value)
{
	const struct resctrl_counter *counter = &cell->counters[value];
	const struct resctrl_file *file = &cell->files[value];

	if (!file->known) {
		sum->missing |= cmt_resctrl_flags[value];
		return;
	}
	sum->values[value] += file->value;
	if (!counter->last)
		sum->first[value] += file->value;
	sum->stepped |= value != RESCTRL_OCCUPANCY && file->value < counter->last;
}

/* The control group subtracts the values of its monitoring group. */
static void add_below(struct below *sum, const struct resctrl_cell *cell, uint32_t events)
{
	sum->nr++;
	for (uint32_t v = 0; v < NR_RESCTRL_VALUES; v++)
		if (events & cmt_resctrl_flags[v])
			add_file(sum, cell, v);
}

/*
 * Write the record of a group in one domain.  @sum: of the monitoring groups of the next
 * control group
 */
static void put_sample(struct resctrl *r, uint32_t index, uint32_t d, struct below *sum)
{
	static const struct below nothing;
	const struct resctrl_group *group = &r->groups[index];
	bool monitoring = group->parent != RESCTRL_NONE;
	const struct below *below = monitoring ? &nothing : sum;
	struct resctrl_cell *cell = &group->cells[d];
	struct cmt_record record = {
		.type = CMT_REC_SAMPLE, .rmid = index, .domain = r->domains[d],
		.generation = index ? group->generation : 0,
		.flags = cell->why, .ts = cell->ts,
	};

	if (monitoring)
		add_below(sum, cell, r->info.events);
	for (uint32_t v = 0; v < NR_RESCTRL_VALUES; v++)
		if (r->info.events & cmt_resctrl_flags[v])
			add_value(&record, cell, below, v,
				  below->stepped || group->rebase);
	cmt_resctrl_put_at(r, &record);
	r->stats.samples++;
}

static void put_samples(struct resctrl *r)
{
	struct below sums[CMT_DOMAINS_MAX] = { 0 };

	for (uint32_t i = 0; i < r->nr_order; i++) {
		struct resctrl_group *group = &r->groups[r->order[i]];

		/* there may have been no memory for cells */
		for (uint32_t d = 0; group->cells && d < r->nr_domains; d++)
			put_sample(r, r->order[i], d, &sums[d]);
		group->rebase = false;
		if (group->parent == RESCTRL_NONE)
			memset(sums, 0, sizeof(sums));
	}
}

static void read_files(struct resctrl *r)
{
	for (uint32_t i = 0; i < r->nr_order; i++) {
		const struct resctrl_group *group = &r->groups[r->order[i]];

		for (uint32_t d = 0; group->cells && d < r->nr_domains; d++)
			cell_read(r, group, d);
	}
}

/*
 * A monitoring group that is removed, or moved to another control group, takes all traffic
 * of its life out of one file and into another, while its own files stay readable.
 */
static bool groups_moved(const struct resctrl *r)
{
	for (uint32_t i = 0; i < r->nr_order; i++)
		if (cmt_resctrl_group_is_gone(r, &r->groups[r->order[i]]))
			return true;
	return false;
}

int cmt_resctrl_read(struct resctrl *r)
{
	int err = 0;

	for (int n = 0; !err && n < READ_TRIES; n++) {
		read_files(r);
		if (!groups_moved(r)) {
			put_samples(r);
			return 0;
		}
		err = cmt_resctrl_scan(r);
	}
	r->stats.missed++;
	return err;
}
