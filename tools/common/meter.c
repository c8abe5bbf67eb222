// SPDX-License-Identifier: GPL-2.0-or-later
#include "meter.h"

#include <errno.h>
#include <time.h>

#include "clock.h"

static const uint32_t events[NR_METER_COUNTERS] = {
	[METER_TOTAL] = CMT_F_MBM_TOTAL,
	[METER_LOCAL] = CMT_F_MBM_LOCAL,
};

/* Where nothing was counted before, the traffic up to this reading is not known. */
static void forget_bases(struct meter *meter)
{
	uint32_t i;

	for (i = 0; i < meter->nr_domains; i++) {
		meter->domains[i].known = false;
		meter->domains[i].traffic[METER_TOTAL].based = false;
		meter->domains[i].traffic[METER_LOCAL].based = false;
	}
}

static void mark_gap(struct meter *meter, enum meter_counter nr)
{
	if (!(meter->events & events[nr]))
		return;
	meter->gap[nr] = true;
	meter->why |= CMT_USAGE_WHY_GAP;
}

/* NULL: there are more domains than there is room for. */
static struct meter_domain *domain_of(struct meter *meter, uint32_t domain)
{
	uint32_t i;

	for (i = 0; i < meter->nr_domains; i++)
		if (meter->domains[i].domain == domain)
			return &meter->domains[i];
	if (i == METER_DOMAINS)
		return NULL;
	meter->domains[i] = (struct meter_domain){ .domain = domain };
	meter->nr_domains++;
	return &meter->domains[i];
}

/* The first reading of all is the base, and no gap. */
static void add_traffic(struct meter *meter, struct meter_traffic *traffic,
			enum meter_counter nr, const struct cmt_record *record,
			uint64_t value)
{
	bool counted = record->flags & events[nr];

	if (counted && traffic->based && record->base == traffic->base &&
	    value >= traffic->last) {
		traffic->known = true;
		traffic->bytes += value - traffic->last;
	} else if (!counted || meter->last_ns) {
		mark_gap(meter, nr);
	}
	traffic->based = counted;
	traffic->last = value;
	traffic->base = record->base;
}

static uint32_t why_of(uint32_t flags)
{
	return (flags & CMT_F_ERROR ? CMT_USAGE_WHY_ERROR : 0) |
	       (flags & CMT_F_UNAVAILABLE ? CMT_USAGE_WHY_UNAVAILABLE : 0) |
	       (flags & CMT_F_PQR_OVERWRITTEN ? CMT_USAGE_WHY_OVERWRITTEN : 0);
}

static void add_sample(struct meter *meter, const struct cmt_record *record)
{
	struct meter_domain *domain = domain_of(meter, record->domain);

	meter->why |= why_of(record->flags);
	meter->emulated |= !!(record->flags & CMT_F_EMULATED);
	if (!domain) {
		mark_gap(meter, METER_TOTAL);
		mark_gap(meter, METER_LOCAL);
		meter->incomplete = true;
		return;
	}
	domain->seen = true;
	domain->known = record->flags & CMT_F_OCCUPANCY;
	domain->occupancy = record->sample.occupancy_bytes;
	domain->most_known |= domain->known;
	if (domain->known && domain->occupancy > domain->most)
		domain->most = domain->occupancy;
	add_traffic(meter, &domain->traffic[METER_TOTAL], METER_TOTAL, record,
		    record->sample.mbm_total_bytes);
	add_traffic(meter, &domain->traffic[METER_LOCAL], METER_LOCAL, record,
		    record->sample.mbm_local_bytes);
}

static void add_sums(struct meter *meter)
{
	struct measure now = meter_occupancy(meter);

	if (now.known && now.value > (double)meter->most)
		meter->most = (uint64_t)now.value;
	if (!now.known || now.partial) {
		meter->incomplete = true;
		return;
	}
	meter->readings++;
	meter->sum += now.value;
}

/* The owner has another RMID than before: readings have no base. */
static void meet_owner(struct meter *meter, const struct cmt_record *record)
{
	if (record->rmid == meter->rmid &&
	    record->generation == meter->generation)
		return;
	forget_bases(meter);
	meter->rmid = record->rmid;
	meter->generation = record->generation;
}

static void clear_seen(struct meter *meter)
{
	uint32_t i;

	for (i = 0; i < meter->nr_domains; i++) {
		meter->domains[i].seen = false;
		meter->domains[i].known = false;
	}
}

/* The CPUs of a domain may be offline, all of them. */
static void miss_unseen(struct meter *meter)
{
	uint32_t i;

	for (i = 0; i < meter->nr_domains; i++) {
		struct meter_domain *domain = &meter->domains[i];

		if (domain->seen)
			continue;
		domain->traffic[METER_TOTAL].based = false;
		domain->traffic[METER_LOCAL].based = false;
		mark_gap(meter, METER_TOTAL);
		mark_gap(meter, METER_LOCAL);
	}
}

void meter_add(struct meter *meter, const struct cmt_snapshot *reading)
{
	uint64_t last_ns = reading->as_of;
	uint32_t i;

	clear_seen(meter);
	for (i = 0; i < reading->count; i++) {
		const struct cmt_record *record = cmt_snapshot_at(reading, i);

		if (record->type != CMT_REC_SAMPLE)
			continue;
		meet_owner(meter, record);
		add_sample(meter, record);
		/* rates are between the times of the readings themselves */
		last_ns = record->ts;
	}
	miss_unseen(meter);
	if (!meter->start_ns)
		meter->start_ns = last_ns;
	meter->last_ns = last_ns;
	meter->pending = false;
	add_sums(meter);
}

void meter_add_pending(struct meter *meter, uint64_t now_ns)
{
	forget_bases(meter);
	meter->gap[METER_TOTAL] = true;
	meter->gap[METER_LOCAL] = true;
	meter->why |= CMT_USAGE_WHY_PENDING;
	meter->incomplete = true;
	meter->pending = true;
	if (!meter->start_ns)
		meter->start_ns = now_ns;
	meter->last_ns = now_ns;
}

void meter_begin(struct meter *meter)
{
	uint32_t i;

	for (i = 0; i < meter->nr_domains; i++) {
		struct meter_domain *domain = &meter->domains[i];

		domain->most_known = false;
		domain->most = 0;
		domain->traffic[METER_TOTAL].known = false;
		domain->traffic[METER_TOTAL].bytes = 0;
		domain->traffic[METER_LOCAL].known = false;
		domain->traffic[METER_LOCAL].bytes = 0;
	}
	meter->start_ns = meter->last_ns;
	meter->why = 0;
	meter->gap[METER_TOTAL] = false;
	meter->gap[METER_LOCAL] = false;
	meter->readings = 0;
	meter->incomplete = false;
	meter->sum = 0;
	meter->most = 0;
}

uint64_t meter_elapsed_ns(const struct meter *meter)
{
	return meter->last_ns - meter->start_ns;
}

/* Another RMID counted some of the work: a lower bound, and one of 0 says nothing. */
static struct measure bound(const struct meter *meter, struct measure value)
{
	if (!(meter->why & CMT_USAGE_WHY_OVERWRITTEN))
		return value;
	value.known &= value.value > 0;
	value.partial = value.known;
	return value;
}

struct measure meter_occupancy(const struct meter *meter)
{
	struct measure sum = { 0 };
	uint32_t i;

	for (i = 0; i < meter->nr_domains; i++) {
		const struct meter_domain *domain = &meter->domains[i];

		sum.known |= domain->known;
		sum.partial |= !domain->known;
		if (domain->known)
			sum.value += (double)domain->occupancy;
	}
	sum.partial &= sum.known;
	return bound(meter, sum);
}

struct measure meter_most(const struct meter *meter)
{
	bool known = meter->readings || meter->most;

	return bound(meter, (struct measure){
		.known = known,
		.partial = known && meter->incomplete,
		.value = (double)meter->most,
	});
}

struct measure meter_mean(const struct meter *meter)
{
	struct measure mean = { .known = meter->readings };

	if (mean.known)
		mean.value = meter->sum / meter->readings;
	return bound(meter, mean);
}

struct measure meter_domain_occupancy(const struct meter *meter,
				      const struct meter_domain *domain)
{
	return bound(meter, (struct measure){
		.known = domain->known, .value = (double)domain->occupancy,
	});
}

struct measure meter_domain_most(const struct meter *meter,
				 const struct meter_domain *domain)
{
	return bound(meter, (struct measure){
		.known = domain->most_known,
		.partial = domain->most_known && meter->incomplete,
		.value = (double)domain->most,
	});
}

struct measure meter_domain_bytes(const struct meter *meter,
				  const struct meter_domain *domain,
				  enum meter_counter nr)
{
	const struct meter_traffic *traffic = &domain->traffic[nr];

	return bound(meter, (struct measure){
		.known = traffic->known,
		.partial = traffic->known && meter->gap[nr],
		.value = (double)traffic->bytes,
	});
}

struct measure meter_bytes(const struct meter *meter, enum meter_counter nr)
{
	struct measure sum = { .partial = meter->gap[nr] };
	uint32_t i;

	for (i = 0; i < meter->nr_domains; i++) {
		sum.known |= meter->domains[i].traffic[nr].known;
		sum.value += (double)meter->domains[i].traffic[nr].bytes;
	}
	sum.partial &= sum.known;
	return bound(meter, sum);
}

struct measure meter_rate(const struct meter *meter, enum meter_counter nr)
{
	struct measure rate = meter_bytes(meter, nr);
	uint64_t elapsed = meter_elapsed_ns(meter);

	rate.known &= elapsed != 0;
	if (rate.known)
		rate.value *= 1e9 / (double)elapsed;
	return rate;
}

int meter_read(struct meter *meter, const struct cmt_device *dev, uint32_t kind,
	       uint64_t id)
{
	struct cmt_snapshot *reading;
	int ret = cmt_device_read_now(dev, kind, id, &reading);

	if (ret == -EAGAIN) {
		meter_add_pending(meter, clock_ns(CLOCK_MONOTONIC));
		return 0;
	}
	if (ret)
		return ret == -ESRCH ? -ENOENT : ret;
	meter_add(meter, reading);
	cmt_snapshot_free(reading);
	return 0;
}

void meter_await_rmid(const struct cmt_device *dev, uint32_t kind, uint64_t id)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + METER_LIMBO_NS;
	struct cmt_snapshot *reading;
	int ret;

	while ((ret = cmt_device_read_now(dev, kind, id, &reading)) == -EAGAIN &&
	       clock_ns(CLOCK_MONOTONIC) < end)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	if (!ret)
		cmt_snapshot_free(reading);
}
