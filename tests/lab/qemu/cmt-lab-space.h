/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of address spaces: small numbers for page-table roots. */
#ifndef CMT_LAB_SPACE_H
#define CMT_LAB_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* @in_use: is there a line of this space in any cache? */
void lab_spaces_init(uint32_t max, bool (*in_use)(uint32_t space));

/* The space of a root, a new one if it has none; 0: there is none left. */
uint32_t lab_space_of(uint64_t root);
/* The space of a root; 0: it has none. */
uint32_t lab_space_find(uint64_t root);
/* From now on the root has a new space. */
uint32_t lab_space_new(uint64_t root);
/* Grows whenever a root's space may have changed. */
uint32_t lab_space_epoch(void);
/* How often there was none left. */
uint64_t lab_spaces_lost(void);

#endif
