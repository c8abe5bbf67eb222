// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The values of resctrl's groups.
 *
 * The files of a control group count its monitoring groups, too.  The monitoring groups
 * are read first and subtracted, so the difference is too large by their traffic in
 * between, and never too small.  The difference may then step back by as much: such a
 * step counts as no traffic.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

#define VALUE_MAX	64	/* bytes of a file that can be a value */

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

/* Returns -ENOENT if the file has gone, else 0: a value, or flags that say why not. */
static int value_read(struct resctrl *r, const struct resctrl_group *group,
		      uint32_t d, uint32_t value, uint32_t *flags)
{
	struct resctrl_file *file = &group->cells[d].files[value];
	uint32_t why = 0;
	int err = file_read(r, group, r->domains[d], value, file, &why);

	if (err) {
		file_close(r, file);
		why = err == -EIO ? CMT_F_ERROR : CMT_F_UNAVAILABLE;
	}
	*flags |= why;
	r->stats.read_errors += !!(why & CMT_F_ERROR);
	r->stats.read_unavailable += !!(why & CMT_F_UNAVAILABLE);
	return err == -ENOENT || err == -ENODEV ? -ENOENT : 0;
}

/* The value of the group without the groups below it.  False: it is unknown. */
static bool value_of(const struct resctrl_file *file, const struct below *below,
		     uint32_t value, uint64_t *alone)
{
	uint64_t under = below->values[value];

	if (!file->known || below->missing & cmt_resctrl_flags[value])
		return false;
	*alone = file->value > under ? file->value - under : 0;
	return true;
}

/*
 * Add the traffic since the last reading.  Returns CMT_F_REBASED where it is unknown:
 * after a step back of the file's value (@stepped), or without a previous reading.
 */
static uint32_t counter_add(struct resctrl_counter *counter, uint64_t value, bool stepped)
{
	if (!counter->based || stepped) {
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

static void add_value(struct cmt_record *record, struct resctrl_cell *cell,
		      const struct below *below, uint32_t value, bool stepped)
{
	struct resctrl_counter *counter = &cell->counters[value];
	uint64_t alone;

	if (!value_of(&cell->files[value], below, value, &alone)) {
		counter->based = false;
		if (below->missing & cmt_resctrl_flags[value])
			record->flags |= CMT_F_UNAVAILABLE;
		return;
	}
	record->flags |= cmt_resctrl_flags[value];
	if (value == RESCTRL_OCCUPANCY) {
		record->sample.occupancy_bytes = alone;
		return;
	}
	record->flags |= counter_add(counter, alone, stepped);
	if (value == RESCTRL_TOTAL)
		record->sample.mbm_total_bytes = counter->sum;
	else
		record->sample.mbm_local_bytes = counter->sum;
}

/* The control group subtracts the value of its monitoring group. */
static void add_below(struct below *sum, const struct resctrl_cell *cell,
		      uint32_t events, bool stepped)
{
	for (uint32_t v = 0; v < NR_RESCTRL_VALUES; v++) {
		if (!(events & cmt_resctrl_flags[v]))
			continue;
		if (!cell->files[v].known)
			sum->missing |= cmt_resctrl_flags[v];
		else
			sum->values[v] += cell->files[v].value;
	}
	sum->stepped |= stepped;
}

static bool steps_back(const struct resctrl_file *from, const struct resctrl_file *to)
{
	return from->known && to->known && to->value < from->value;
}

/* Read the files of one domain.  Returns 0, or -ENOENT: the group is gone. */
static int cell_read(struct resctrl *r, const struct resctrl_group *group, uint32_t d,
		     uint32_t *flags, bool *stepped)
{
	struct resctrl_cell *cell = &group->cells[d];
	int err = 0;

	for (uint32_t v = 0; v < NR_RESCTRL_VALUES; v++) {
		struct resctrl_file *file = &cell->files[v];
		const struct resctrl_file before = *file;

		if (!(r->info.events & cmt_resctrl_flags[v]))
			continue;
		if (value_read(r, group, d, v, flags))
			err = -ENOENT;
		*stepped |= v != RESCTRL_OCCUPANCY && steps_back(&before, file);
	}
	/* a file may be missing where the group is there */
	return err && cmt_resctrl_group_is_gone(r, group) ? err : 0;
}

/*
 * The record of a group in one domain.  @sum: of the monitoring groups of the next control
 * group.  Returns 0, or -ENOENT: the group is gone.
 */
static int group_read(struct resctrl *r, uint32_t index, uint32_t d, struct below *sum)
{
	static const struct below nothing;
	const struct resctrl_group *group = &r->groups[index];
	bool monitoring = group->parent != RESCTRL_NONE, stepped = false;
	const struct below *below = monitoring ? &nothing : sum;
	struct cmt_record record = {
		.type = CMT_REC_SAMPLE, .rmid = index, .domain = r->domains[d],
		.generation = index ? group->generation : 0,
	};

	if (cell_read(r, group, d, &record.flags, &stepped))
		return -ENOENT;
	for (uint32_t v = 0; v < NR_RESCTRL_VALUES; v++)
		if (r->info.events & cmt_resctrl_flags[v])
			add_value(&record, &group->cells[d], below, v,
				  stepped || below->stepped || group->rebase);
	cmt_resctrl_put(r, &record);
	r->stats.samples++;
	if (monitoring)
		add_below(sum, &group->cells[d], r->info.events, stepped);
	return 0;
}

/* True: the group is gone, and the kernel does not count it in its control group. */
static bool read_domains(struct resctrl *r, uint32_t index, struct below *sums)
{
	struct resctrl_group *group = &r->groups[index];
	int err = 0;

	/* there was no memory for them */
	if (!group->cells)
		return false;
	for (uint32_t d = 0; !err && d < r->nr_domains; d++)
		err = group_read(r, index, d, &sums[d]);
	group->rebase = false;
	if (err && group->parent != RESCTRL_NONE)
		r->groups[group->parent].rebase = true;
	return err;
}

bool cmt_resctrl_read(struct resctrl *r)
{
	struct below sums[CMT_DOMAINS_MAX] = { 0 };
	bool gone = false;

	for (uint32_t i = 0; i < r->nr_order; i++) {
		gone |= read_domains(r, r->order[i], sums);
		if (r->groups[r->order[i]].parent == RESCTRL_NONE)
			memset(sums, 0, sizeof(sums));
	}
	return gone;
}
