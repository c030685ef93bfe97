/* h5md_file.h: what the parts of the H5MD layout share: the open file and what
 * stands in it so far. Private to src/io.
 */
#ifndef WARPDECK_IO_H5MD_FILE_H
#define WARPDECK_IO_H5MD_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "io/h5.h"

struct ctx;
struct provenance;
struct field_frame;

/* The datasets of one particle field; constant ones have no frames. */
struct h5md_field {
    char *name;
    int constant, components;
    int64_t total;
    struct h5_set values;
};

struct h5md {
    struct h5 *h5;
    int reduced; /* numbers in reduced units: no unit attributes */
    int64_t frames;
    uint64_t bytes;

    /* /observables: rows wait here until they go to the disk together */
    int n_observables;
    struct h5_set *observables; /* value of each */
    struct h5_set observable_step, observable_time;
    size_t waiting, capacity;
    int64_t *steps;
    double *times;
    double *values; /* [row * n_observables + observable] */
    double flushed; /* when, on rank 0's clock */

    /* /particles/all: made with the first frame */
    int has_particles;
    int n_fields;
    struct h5md_field *fields;
    struct h5_set frame_step, frame_time, edges;
};

/* Description and unit of a dataset as h5md.h says. `read_by_mdanalysis`: one
 * of those whose units that reader checks. */
int h5md_describe(struct ctx *ctx, struct h5md *f, const char *path,
                  const char *unit, const char *description,
                  int read_by_mdanalysis);

/* /, /h5md and /run (h5md_run.c). */
int h5md_write_run(struct ctx *ctx, struct h5md *f,
                   const struct provenance *from);
/* /run's attribute `end`: now. */
int h5md_write_end(struct ctx *ctx, struct h5md *f);

/* Make /particles/all, or check that the frame looks like the first one
 * (h5md_particles.c). */
int h5md_make_particles(struct ctx *ctx, struct h5md *f,
                        const struct field_frame *frame);
void h5md_free_particles(struct h5md *f);

/* /observables (h5md_observables.c). */
int h5md_make_observables(struct ctx *ctx, struct h5md *f, int n,
                          const struct observable *observables,
                          const char *time_unit);
/* Waiting rows to the datasets, without a flush. */
int h5md_settle_observables(struct ctx *ctx, struct h5md *f);
void h5md_free_observables(struct h5md *f);

/* Room for metadata beside the payload: B-tree nodes and headers. */
double h5md_slack(int n_datasets);

#endif
