/* parts.h: what is written of a field on a grid: frames of all of it, slices
 * and boxes at their own rates, and probes.
 *
 * [[output.slice]], [[output.box]], [[output.probe]] and the frames themselves
 * are parts. Those that are due at a step share one picture of the flow, which
 * has all fields that any of them wants.
 */
#ifndef WARPDECK_DRIVER_PARTS_H
#define WARPDECK_DRIVER_PARTS_H

#include <stdint.h>

#include "driver/clock.h"
#include "io/vtkhdf.h"

struct ctx;
struct job;
struct provenance;
struct staging;

enum part_kind { PART_FRAMES, PART_SLICE, PART_BOX, PART_PROBE };

struct part {
    enum part_kind kind;
    const char *name; /* NULL for the frames */
    int index;        /* of its section */
    struct clock clock;
    int n_fields;
    const char *const *fields;
    int axis;        /* of a slice: the normal's */
    double lower[3]; /* of a box; position of a slice and a probe */
    double upper[3]; /* of a box */
    struct vtkhdf_box box;
    struct vtkhdf *frames; /* not of a probe */
    int probe;             /* number in the result file */
    int64_t near[3][2];    /* cells around a probe, */
    double weight[3][2];   /* and what each counts */
    int n_values;          /* numbers of a row */
    double *values;
    int located, due;
    int64_t last; /* step that stands on the disk; -1: none */
};

struct parts {
    int n;
    struct part *part;
    const char **names; /* fields that are wanted together */
};

/* Complain (params_error) about sections that this solver has no use for, and
 * about names, fields and places that do not exist. Rank by rank. Errors:
 * STATUS_MEMORY. */
int parts_check(struct ctx *ctx, const struct job *job);

/* Bytes on the disk of frames and of all other parts, about; *others: how many
 * pictures the latter are. Nothing for a solver without a grid. */
void parts_plan(const struct job *job, double *frame, double *rest,
                int64_t *others);

/* Read the sections, and open the rows of frames: new, or to go on from step
 * `keep` (-1: new). `stem` is the path of the results without ending. For a
 * solver without a grid there are no parts. parts_free() whatever is returned.
 * Collective. */
int parts_open(struct ctx *ctx, const struct job *job, const char *stem,
               const struct provenance *from, int64_t keep, struct parts *out);

/* Note what is due at the coming step (of the frames, where `frame`; all of
 * them at the last one); returns whether anything is. */
int parts_due(struct parts *parts, const struct job *job, int frame, int last);
/* Whatever the present step has not yet. */
int parts_missing(struct parts *parts, int64_t step);
/* Write what is due, or have it written. Collective. */
int parts_write(struct ctx *ctx, struct parts *parts, const struct job *job,
                struct staging *staging);

int64_t parts_frames(const struct parts *parts); /* files written */
double parts_bytes(const struct parts *parts);
void parts_free(struct parts *parts);

#endif
