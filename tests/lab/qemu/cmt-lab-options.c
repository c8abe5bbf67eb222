/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmt-lab-cache.h"
#include "cmt-lab-options.h"

/* Options that are numbers. */
static const struct {
    const char *name;
    size_t at;
    uint64_t from, to;
} numbers[] = {
#define NUMBER(name, from, to) \
    { #name, offsetof(struct lab_options, name), from, to }
    NUMBER(rmids, 2, 4096),
    NUMBER(limit, 1, 4096),
    NUMBER(width, 24, 62),
    NUMBER(upscale, 1, 1U << 30),
    NUMBER(events, 0, 7),
    NUMBER(size, 4096, 1U << 30),
    NUMBER(ways, 1, LAB_CACHE_WAYS_MAX),
    NUMBER(line, 32, 4096),
    NUMBER(closids, 0, LAB_CLOSIDS_MAX),
    NUMBER(snc, 1, 8),
    NUMBER(spaces, 16, 16384),
    NUMBER(evictions, 0, LAB_EVICTIONS_MAX),
    NUMBER(agent_rmid, 0, 4095),
    NUMBER(signature, 0, UINT32_MAX),
    NUMBER(pti, 0, 1),
    NUMBER(on, 0, 1),
    NUMBER(overflow, 0, 1),
    NUMBER(abmc, 0, 2),
    NUMBER(abmc_counters, 1, 32),
    NUMBER(abmc_lie, 0, 1),
    NUMBER(erdt, 0, 1),
    NUMBER(tracked, 0, 4096),
    NUMBER(plza, 0, 1),
    NUMBER(pmu, 0, 1),
    NUMBER(counters, 1, LAB_COUNTERS_MAX),
    NUMBER(penalty, 0, 100000),
    NUMBER(pmon, 0, 1),
    NUMBER(pmon_width, 16, 63),
#undef NUMBER
};

/* Options that are faults: period, or period:burst. */
static const struct {
    const char *name;
    enum lab_fault fault;
} plans[] = {
    { "fault_error", LAB_FAULT_ERROR },
    { "fault_unavailable", LAB_FAULT_UNAVAILABLE },
    { "fault_evtsel", LAB_FAULT_EVTSEL },
    { "fault_evtsel_error", LAB_FAULT_EVTSEL_ERROR },
    { "fault_pqr", LAB_FAULT_PQR },
    { "fault_pqr_timer", LAB_FAULT_PQR_TIMER },
    { "fault_gp", LAB_FAULT_GP },
    { "fault_read", LAB_FAULT_READ },
    { "fault_take", LAB_FAULT_TAKE },
    { "fault_mode", LAB_FAULT_MODE },
    { "fault_mode_twice", LAB_FAULT_MODE_TWICE },
    { "fault_erdt_mode", LAB_FAULT_ERDT_MODE },
    { "fault_erdt_control", LAB_FAULT_ERDT_CONTROL },
};

static const char *const lies[LAB_LIES] = {
    "none", "stride", "far", "units", "outside", "huge", "access", "width",
    "twice", "differ", "ones", "bar", "no_bar", "offset", "loop",
};

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* Digits, in any of C's bases, and K or M; *end is what follows. */
static bool number(const char *text, char **end, uint64_t *value)
{
    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    *value = strtoull(text, end, 0);
    if (errno || *value > UINT32_MAX) {
        return false;
    }
    if (**end == 'K' || **end == 'M') {
        *value <<= **end == 'K' ? 10 : 20;
        (*end)++;
    }
    return true;
}

static bool set_number(struct lab_options *o, size_t i, const char *value,
                       char *error, size_t size)
{
    uint64_t n;
    char *end;

    if (!number(value, &end, &n) || *end) {
        snprintf(error, size, "%s=%s is not a number", numbers[i].name, value);
        return false;
    }
    if (n < numbers[i].from || n > numbers[i].to) {
        snprintf(error, size, "%s=%s is not in %llu..%llu", numbers[i].name,
                 value, (unsigned long long)numbers[i].from,
                 (unsigned long long)numbers[i].to);
        return false;
    }
    *(uint32_t *)((char *)o + numbers[i].at) = n;
    return true;
}

static bool set_plan(struct lab_options *o, size_t i, const char *value,
                     char *error, size_t size)
{
    struct lab_plan *plan = &o->plans[plans[i].fault];
    uint64_t period, burst = 1;
    char *end;
    bool good = number(value, &end, &period);

    if (good && *end == ':') {
        good = number(end + 1, &end, &burst);
    }
    if (!good || *end || period > 0xfffff || burst > 0xff || !burst) {
        snprintf(error, size, "%s=%s is not PERIOD or PERIOD:BURST, up to "
                 "1048575:255", plans[i].name, value);
        return false;
    }
    plan->period = period;
    plan->burst = burst;
    return true;
}

static bool set_vendor(struct lab_options *o, const char *value, char *error,
                       size_t size)
{
    o->amd = !strcmp(value, "amd");
    if (o->amd || !strcmp(value, "intel")) {
        return true;
    }
    snprintf(error, size, "vendor=%s is neither intel nor amd", value);
    return false;
}

static bool set_lie(struct lab_options *o, const char *value, char *error,
                    size_t size)
{
    uint32_t i;

    for (i = 0; i < LAB_LIES; i++) {
        if (!strcmp(value, lies[i])) {
            o->pmon_lie = i;
            return true;
        }
    }
    snprintf(error, size, "there is no pmon_lie=%s", value);
    return false;
}

static bool set(struct lab_options *o, const char *name, const char *value,
                char *error, size_t size)
{
    size_t i;

    if (!strcmp(name, "vendor")) {
        return set_vendor(o, value, error, size);
    }
    if (!strcmp(name, "pmon_lie")) {
        return set_lie(o, value, error, size);
    }
    for (i = 0; i < ARRAY_LENGTH(numbers); i++) {
        if (!strcmp(name, numbers[i].name)) {
            return set_number(o, i, value, error, size);
        }
    }
    for (i = 0; i < ARRAY_LENGTH(plans); i++) {
        if (!strcmp(name, plans[i].name)) {
            return set_plan(o, i, value, error, size);
        }
    }
    snprintf(error, size, "there is no option %s", name);
    return false;
}

/* What must hold between options; NULL: it does. */
static const char *contradiction(const struct lab_options *o)
{
    uint32_t sets = o->size / (o->ways * o->line);

    if (o->line & (o->line - 1)) {
        return "line must be a power of two";
    }
    if (sets * o->ways * o->line != o->size || !sets || sets & (sets - 1)) {
        return "size / (ways * line) must be a power of two";
    }
    if (o->closids == 1) {
        return "closids must be 0, or 2 and more";
    }
    if (o->rmids % o->snc || o->upscale % o->snc) {
        return "rmids and upscale must divide by snc";
    }
    if (o->limit > o->rmids) {
        return "limit must not be above rmids";
    }
    if (o->rmids > 1024 && !o->amd) {
        return "more than 1024 RMIDs are AMD's";
    }
    if (o->plza && !o->amd) {
        return "plza is AMD's";
    }
    if (o->amd && (o->snc > 1 || o->overflow)) {
        return "snc and overflow are Intel's";
    }
    if (o->amd && o->pmu) {
        return "pmu is Intel's";
    }
    if (o->pmon && (o->amd || o->line < 64)) {
        return "pmon is Intel's, and needs lines of 64 bytes or more";
    }
    if (o->evictions > o->spaces) {
        return "evictions must not be above spaces";
    }
    if (o->abmc && !o->amd) {
        return "abmc is AMD's";
    }
    if (o->tracked && (!o->amd || o->abmc)) {
        return "tracked is AMD's, without abmc";
    }
    if (o->erdt && (o->amd || o->snc > 1)) {
        return "erdt is Intel's, without snc";
    }
    if (o->erdt && (o->rmids > LAB_ERDT_RMIDS || o->width != LAB_ERDT_WIDTH ||
                    o->upscale != LAB_ERDT_UNIT || o->events & 4)) {
        return "erdt needs what its table says: rmids up to 1024, width=24, "
               "upscale=4096, events without 4";
    }
    return NULL;
}

bool lab_options_parse(struct lab_options *o, const char *text, char *error,
                       size_t size)
{
    char *copy = strdup(text), *rest = copy, *item;
    const char *why;

    *o = (struct lab_options) {
        .rmids = 64, .width = 24, .upscale = 4096, .events = 7,
        .size = 8 << 20, .ways = 16, .line = 64, .snc = 1, .spaces = 4096,
        .counters = 4, .penalty = 200, .pmon_width = 48,
        .abmc_counters = 32,
    };
    while ((item = strsep(&rest, ","))) {
        char *value = strchr(item, '=');

        if (!*item) {
            continue;
        }
        if (!value) {
            snprintf(error, size, "%s is not NAME=VALUE", item);
            goto bad;
        }
        *value++ = '\0';
        if (!set(o, item, value, error, size)) {
            goto bad;
        }
    }
    if (!o->limit) {
        o->limit = o->rmids;
    }
    why = contradiction(o);
    if (why) {
        snprintf(error, size, "%s", why);
        goto bad;
    }
    free(copy);
    return true;
bad:
    free(copy);
    return false;
}
