/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the translator emits to count instructions: one addition for a block of
 * code, with the block's length as its constant.  The privilege level does not
 * change within a block, so that it selects the counter at translation time.
 */
#ifndef CMT_LAB_GEN_H
#define CMT_LAB_GEN_H

#include "tcg/tcg-op.h"

static inline TCGOp *cmt_lab_gen_add(bool user, int64_t count)
{
    intptr_t at = offsetof(CPUX86State, cmt_lab.insns) +
                  user * sizeof(uint64_t);
    TCGv_i64 sum = tcg_temp_new_i64();
    TCGOp *add;

    tcg_gen_ld_i64(sum, cpu_env, at);
    /* not tcg_gen_addi_i64(), which emits nothing for 0 */
    tcg_gen_add_i64(sum, sum, tcg_constant_i64(count));
    add = tcg_last_op();
    tcg_gen_st_i64(sum, cpu_env, at);
    tcg_temp_free_i64(sum);
    return add;
}

/* At the start of a block.  NULL: instructions are not counted. */
static inline TCGOp *cmt_lab_gen_start(bool user)
{
    QEMU_BUILD_BUG_ON(TCG_TARGET_REG_BITS != 64);
    return cmt_lab_counting ? cmt_lab_gen_add(user, 0) : NULL;
}

/* At its end. */
static inline void cmt_lab_gen_end(TCGOp *add, int num_insns)
{
    if (add) {
        tcg_set_insn_param(add, 2,
                           tcgv_i64_arg(tcg_constant_i64(num_insns)));
    }
}

/*
 * The current instruction does not retire here: it raises a fault, or it is one
 * more element of a REP, which counts once.
 */
static inline void cmt_lab_gen_not_retired(bool user)
{
    if (cmt_lab_counting) {
        cmt_lab_gen_add(user, -1);
    }
}

#endif
