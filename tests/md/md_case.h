/* md_case.h: one molecular dynamics simulation inside a C test.
 *
 * The deck is given as text; the solver is driven through its interface, on the
 * device named by WARPDECK_TEST_DEVICE (cpu without), or on other kernels of
 * the test's choice.
 */
#ifndef WARPDECK_TESTS_MD_MD_CASE_H
#define WARPDECK_TESTS_MD_MD_CASE_H

#include <stddef.h>
#include <stdint.h>

#include "base/ctx.h"
#include "driver/job.h"
#include "kernels/device.h"
#include "kernels/md/md_kernels.h"
#include "solvers/md/md.h"
#include "solvers/solver.h"

struct md_case {
    struct ctx *ctx;
    struct job job;
    struct device device;
    struct md *md;
};

/* What a test needs of a process: ranks, log, timers. Only rank 0 reports. */
int test_start(int *argc, char ***argv, struct ctx *ctx);
int test_end(struct ctx *ctx); /* the exit status */

/* Read the deck, made by `format`, and set up the particles. kernels: NULL for
 * those of the deck's precision. Returns the status; the case is to be closed
 * in any case. */
int case_open(struct ctx *ctx, struct md_case *c,
              const struct md_kernels *kernels, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same without the initial state. */
int case_read(struct ctx *ctx, struct md_case *c, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void case_close(struct md_case *c);

int case_steps(struct md_case *c, int64_t n);
/* The present value of an observable, NaN without such one. */
double case_value(struct md_case *c, const char *name);

/* All particles by id, the same on every rank. */
struct snapshot {
    size_t n;
    double (*position)[3], (*velocity)[3], (*force)[3];
    int32_t (*image)[3];
    int32_t *species;
};
int case_snapshot(struct md_case *c, struct snapshot *s);
void snapshot_free(struct snapshot *s);

/* Forces of the same positions by direct sum. */
struct direct {
    double (*force)[3];
    struct md_sums sums;
};
int case_direct(struct md_case *c, const struct snapshot *s, struct direct *d);
void direct_free(struct direct *d);
/* The greatest difference of a force component over the root mean square of all
 * (at least 1). */
double force_error(const struct snapshot *s, const struct direct *d);

#endif
