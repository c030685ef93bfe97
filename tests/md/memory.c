/* memory.c: one rank has no memory in the middle of a new pair list: all end.
 *
 *     memory FIRST
 *
 * The FIRST allocation of the last rank fails between the moment in which
 * particles leave and the one in which the list is built, in a run of its own
 * the one after it, and so on, until there are no more. Where ranks can agree
 * on it they do, and the next run begins; where one has failed while others
 * wait for its messages it ends them all, with status 9. Run by t_memory.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/error.h"
#include "base/log.h"
#include "md_case.h"
#include "tests/tap.h"

#define LIQUID                                               \
    "[run]\nsolver = \"md\"\nseed = 11\n[md]\nsteps = 100\n" \
    "timestep = 0.004\n[md.initial]\nlattice = \"fcc\"\n"    \
    "cells = [5, 5, 5]\ndensity = 0.8442\ntemperature = 3\n" \
    "[md.pair]\ncutoff = 2.5\nskin = 0.2\n"

/* ---- allocations that fail ---- */

static int armed, left; /* allocations until the one that fails; then 0 */

static int fails(void)
{
    return armed && left > 0 && --left == 0;
}

/* The linker puts these in the place of the originals. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_posix_memalign(void **out, size_t alignment, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_posix_memalign(void **out, size_t alignment, size_t n);

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t n)
{
    return fails() ? ENOMEM : __real_posix_memalign(out, alignment, n);
}

/* ---- kernels that arm them ---- */

static struct md_kernels kernels;
static int the_last;

static int extract(struct ctx *ctx, struct md_store *s,
                   const struct md_particle **out, size_t *n)
{
    armed = the_last;
    return md_kernels_cpu_double.extract_leavers(ctx, s, out, n);
}

static int build(struct ctx *ctx, struct md_store *s)
{
    int status = md_kernels_cpu_double.build_list(ctx, s);
    armed = 0;
    return status;
}

/* ---- the runs ---- */

/* Start and some steps; *reached: an allocation has failed, on any rank. */
static int run(struct ctx *ctx, int which, int64_t steps, int *reached)
{
    struct md_case c;
    int64_t failed = 0;
    int alone;
    armed = 0;
    left = which;
    int status = case_open(ctx, &c, &kernels, LIQUID);
    if (status == 0)
        status = case_steps(&c, steps);
    status = comm_farewell(ctx, status, &alone);
    if (alone) {
        fprintf(stderr, "alone: %s", ctx->error.text);
        comm_abort(ctx->comm, 9);
    }
    failed = the_last && left == 0;
    case_close(&c);
    armed = 0;
    TRY(comm_max_int64(ctx, &failed, 1));
    *reached = (int)failed;
    return status;
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    int reached = 1;
    int first = argc > 1 ? atoi(argv[1]) : 1;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 1;
    kernels = md_kernels_cpu_double;
    kernels.extract_leavers = extract;
    kernels.build_list = build;
    the_last = comm_rank(ctx.comm) == comm_size(ctx.comm) - 1;
    for (int which = first; reached; which++) {
        if (comm_rank(ctx.comm) == 0) {
            printf("# allocation %d\n", which);
            fflush(stdout);
        }
        int status = run(&ctx, which, 6, &reached);
        tap_ok(reached ? status == STATUS_MEMORY : status == 0,
               "allocation %d: %s", which,
               reached ? "all ranks say that there is no memory"
                       : "all have been tried");
    }
    return test_end(&ctx);
}
