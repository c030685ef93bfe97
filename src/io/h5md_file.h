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

/* Quantities that are written at the same steps. Rows wait in memory until they
 * go to the disk together. */
struct h5md_column {
    int components;
    struct h5_set values;
};

struct h5md_series {
    int n;
    struct h5md_column *columns;
    size_t width; /* numbers of a row */
    struct h5_set step, time;
    size_t waiting, capacity;
    int64_t *steps;
    double *times;
    double *values; /* [row][width] */
    int64_t last;   /* step of the last row; -1: none */
};

struct h5md {
    struct h5 *h5;
    int no_units; /* numbers in reduced units: no unit attributes */
    int reopened; /* a run goes on: what there is stands in the file already */
    int64_t frames;
    int64_t frame_last; /* step of the last one; -1: none */
    uint64_t bytes;
    double flushed; /* when rows were, on rank 0's clock */
    struct h5md_series observables;
    int n_probes;
    struct h5md_series *probes;

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

/* Make /particles/all, or check that the frame looks like the first one
 * (h5md_particles.c). */
int h5md_make_particles(struct ctx *ctx, struct h5md *f,
                        const struct field_frame *frame);
/* How many frames a reopened file has, and their last step. */
int h5md_find_frames(struct ctx *ctx, struct h5md *f);
void h5md_free_particles(struct h5md *f);

/* h5md_series.c. The datasets GROUP/NAME/{step,time,value} of n quantities, of
 * one component each where `components` is NULL; made, or found in a file that
 * was reopened. Returns this rank's outcome. */
int h5md_series_make(struct ctx *ctx, struct h5md *f, const char *group, int n,
                     const struct observable *quantities, const int *components,
                     const char *time_unit, struct h5md_series *out);
/* Waiting rows of all series to the datasets, without a flush. */
int h5md_settle(struct ctx *ctx, struct h5md *f);
void h5md_free_series(struct h5md *f);

/* Room for metadata beside the payload: B-tree nodes and headers. */
double h5md_slack(int n_datasets);

#endif
