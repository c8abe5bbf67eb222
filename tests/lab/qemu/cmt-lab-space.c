/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "qemu/thread.h"

#include "cmt-lab-space.h"

static QemuMutex spaces_lock; /* protects all but epoch */
static GHashTable *spaces;    /* root -> space */
static uint64_t *roots;       /* space -> root, 0: none has it any more */
static uint32_t spaces_max;
static uint32_t spaces_next;
static uint64_t spaces_lost;
static uint32_t spaces_epoch;
static bool (*space_in_use)(uint32_t space);

void lab_spaces_init(uint32_t max, bool (*in_use)(uint32_t space))
{
    qemu_mutex_init(&spaces_lock);
    spaces = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    roots = g_new0(uint64_t, max);
    spaces_max = max;
    spaces_next = 1;
    space_in_use = in_use;
}

/* One that was never given, or one of no root that has no line any more. */
static uint32_t take(void)
{
    uint32_t space;

    if (spaces_next < spaces_max) {
        return spaces_next++;
    }
    for (space = 1; space < spaces_max; space++) {
        if (!roots[space] && !space_in_use(space)) {
            return space;
        }
    }
    spaces_lost++;
    return 0;
}

static uint32_t name(uint64_t root)
{
    uint32_t space = take();

    if (space) {
        roots[space] = root;
        g_hash_table_insert(spaces, g_memdup2(&root, sizeof(root)),
                            GUINT_TO_POINTER(space));
    }
    return space;
}

uint32_t lab_space_of(uint64_t root)
{
    uint32_t space;

    qemu_mutex_lock(&spaces_lock);
    space = GPOINTER_TO_UINT(g_hash_table_lookup(spaces, &root));
    if (!space) {
        space = name(root);
    }
    qemu_mutex_unlock(&spaces_lock);
    return space;
}

uint32_t lab_space_find(uint64_t root)
{
    uint32_t space;

    qemu_mutex_lock(&spaces_lock);
    space = GPOINTER_TO_UINT(g_hash_table_lookup(spaces, &root));
    qemu_mutex_unlock(&spaces_lock);
    return space;
}

uint32_t lab_space_new(uint64_t root)
{
    uint32_t space;

    qemu_mutex_lock(&spaces_lock);
    space = GPOINTER_TO_UINT(g_hash_table_lookup(spaces, &root));
    if (space) {
        roots[space] = 0;
        g_hash_table_remove(spaces, &root);
    }
    space = name(root);
    qatomic_inc(&spaces_epoch);
    qemu_mutex_unlock(&spaces_lock);
    return space;
}

uint32_t lab_space_epoch(void)
{
    return qatomic_read(&spaces_epoch);
}

uint64_t lab_spaces_lost(void)
{
    return qatomic_read(&spaces_lost);
}
