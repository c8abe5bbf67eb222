// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/cmt, for people and for collectors that start late.  Readable by root
 * alone: it names processes that hidepid may hide.  Others have /dev/cmt.
 *
 * /proc of a container has the files, too, and root of a container may have the id of
 * root: so a capability is needed beside the id.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string_helpers.h>
#include <linux/vmalloc.h>

#include "dev.h"
#include "file.h"
#include "hw/hw.h"
#include "owner/owner.h"
#include "sample/sample.h"

/*
 * All but printable ASCII, and what the way back from the escape needs: a terminal also acts
 * on controls above ASCII (C1), alone or in UTF-8.
 */
#define COMM_ESCAPES	(ESCAPE_HEX | ESCAPE_NAP | ESCAPE_APPEND)
#define COMM_ESCAPED	"\\"

static struct proc_dir_entry *dir;

static const char *kind_name(u32 flags)
{
	/* other flags describe the members of the group */
	if (flags & CMT_F_OWNER_RESCTRL)
		return "resctrl";
	if (flags & CMT_F_OWNER_CGROUP)
		return "cgroup";
	if (flags & CMT_F_OWNER_CPU)
		return "cpu";
	if (flags & CMT_F_OWNER_OVERFLOW)
		return "overflow";
	if (flags & CMT_F_OWNER_KERNEL)
		return "kernel";
	return "process";
}

static void rmid_show(struct seq_file *m, const struct cmt_record *r)
{
	char comm[CMT_COMM_LEN + 1] = { };

	memcpy(comm, r->owner.comm, CMT_COMM_LEN);
	seq_printf(m, "%u %u %s %u %llu %llu ", r->rmid, r->generation,
		   kind_name(r->flags), r->tgid, r->owner.cgroup_id, r->ts);
	if (r->flags & CMT_F_RESIDUAL)
		seq_printf(m, "%llu ", r->owner.residual_bytes);
	else
		seq_puts(m, "- ");
	seq_escape_str(m, comm, COMM_ESCAPES, COMM_ESCAPED);
	seq_putc(m, '\n');
}

static int rmids_show(struct seq_file *m, void *unused)
{
	struct cmt_record *records;
	int i, count;
	u64 as_of;

	if (!cmt_was_perfmon_capable(m->file))
		return -EPERM;
	records = vcalloc(cmt_caps.nr_rmids, sizeof(*records));
	if (!records)
		return -ENOMEM;
	count = cmt_owners_snapshot(records, &as_of);
	if (count < 0) {
		vfree(records);
		return count;
	}

	seq_printf(m, "# as_of_ns %llu\n", as_of);
	if (cmt_caps.record_flags & CMT_F_EMULATED)
		seq_puts(m, "# EMULATED: residual_bytes is of a model, not of hardware\n");
	/* id: the process, or the CPU; of resctrl's a member; 0 for other kinds */
	seq_puts(m, "# rmid generation kind id cgroup_id since_ns residual_bytes comm\n");
	for (i = 0; i < count; i++)
		rmid_show(m, &records[i]);
	vfree(records);
	return 0;
}

static int stats_show(struct seq_file *m, void *unused)
{
	struct cmt_stats s = { };

	if (!cmt_was_perfmon_capable(m->file))
		return -EPERM;
	cmt_stats_fill(&s);
	seq_printf(m, "rmids_active %u\n", s.rmids_active);
	seq_printf(m, "rmids_limbo %u\n", s.rmids_limbo);
	seq_printf(m, "rmids_free %u\n", s.rmids_free);
	seq_printf(m, "rmids_foreign %u\n", s.rmids_foreign);
	seq_printf(m, "pending %u\n", s.pending);
	seq_printf(m, "readers %u\n", s.readers);
	seq_printf(m, "cpus_online %u\n", s.cpus_online);
	seq_printf(m, "cpus_unread %u\n", s.cpus_unread);
	seq_printf(m, "allocs %llu\n", s.allocs);
	seq_printf(m, "frees %llu\n", s.frees);
	seq_printf(m, "alloc_fails %llu\n", s.alloc_fails);
	seq_printf(m, "served %llu\n", s.served);
	seq_printf(m, "records %llu\n", s.records);
	seq_printf(m, "ticks %llu\n", s.ticks);
	seq_printf(m, "missed %llu\n", s.missed);
	seq_printf(m, "deferred %llu\n", s.deferred);
	seq_printf(m, "samples %llu\n", s.samples);
	seq_printf(m, "switches %llu\n", s.switches);
	seq_printf(m, "pqr_writes %llu\n", s.pqr_writes);
	seq_printf(m, "pqr_overwritten %llu\n", s.pqr_overwritten);
	seq_printf(m, "read_errors %llu\n", s.read_errors);
	seq_printf(m, "read_unavailable %llu\n", s.read_unavailable);
	seq_printf(m, "busy_ns %llu\n", s.busy_ns);
	seq_printf(m, "irqs_off_ns %llu\n", s.irqs_off_ns);
	seq_printf(m, "demand_ns %llu\n", cmt_demand_ns());
	seq_printf(m, "lock_held_ns %llu\n", s.lock_held_ns);
	seq_printf(m, "cpus_foreign %u\n", s.cpus_foreign);
	seq_printf(m, "rings_small %u\n", s.rings_small);
	return 0;
}

int cmt_procfs_init(void)
{
	dir = proc_mkdir("cmt", NULL);
	if (!dir)
		return -ENOMEM;
	if (proc_create_single("rmids", 0400, dir, rmids_show) &&
	    proc_create_single("stats", 0400, dir, stats_show))
		return 0;
	proc_remove(dir);
	return -ENOMEM;
}

void cmt_procfs_exit(void)
{
	proc_remove(dir);
}
