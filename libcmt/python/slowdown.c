// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Part of the extension module: frames of 1 ms into the engine of slowdown.  There are a
 * thousand a second, so the loop is in C.  Python calls it without its lock.
 */

/* The times of quotas: of a recording in its state, else in files of cgroups. */
static int slowdown_add_cpus(struct cmt_usage *usage, struct cmt_culprit *culprit,
			     const struct cmt_usage_frame *frame, struct slowdown_read *read)
{
	const struct cmt_recording_state *state;
	int ret = cmt_usage_state(usage, &state);

	if (ret == -EINVAL && read->look_due && !frame->brief) {
		read->look_due = false;
		/* where there are no cgroups, or no files of them, that is not known */
		cmt_culprit_refresh(culprit, frame, NULL);
	}
	for (uint32_t i = 0; ret == 1 && i < state->nr_cpus; i++)
		if (cmt_culprit_add_cpu(culprit, cmt_recording_cpu_at(state, i)) == -ENOMEM)
			return -ENOMEM;
	return 0;
}

/* Take in at most @most frames; read->frames: so many were there.  Returns 0 or -errno. */
static int slowdown_read(struct cmt_usage *usage, struct cmt_culprit *culprit, uint32_t most,
			 struct slowdown_read *read)
{
	for (read->frames = 0; read->frames < most; read->frames++) {
		const struct cmt_usage_frame *frame;
		int ret = cmt_usage_next(usage, &frame);

		if (ret <= 0)
			return ret;
		ret = cmt_culprit_add_frame(culprit, frame);
		if (ret >= 0)
			ret = slowdown_add_cpus(usage, culprit, frame, read);
		if (ret < 0)
			return ret;
		read->end_ns = frame->end_ns;
		read->sampling_ns = frame->sampling_ns;
		read->lost = frame->lost_ever;
		read->emulated = frame->emulated;
	}
	return 0;
}
