/* h5md.h: NAME.h5, the result file of a run, in H5MD 1.1 layout.
 *
 * Made at the start of a run, it grows by frames and observables and is flushed
 * after each, so that a killed run leaves all that was finished. All calls are
 * collective over ctx->comm and agree on their outcome. Before anything is
 * added, the space for it is looked for and set aside: on a full disk the call
 * fails, and what stood before stays whole.
 *
 *     /                    suite, version, format_version
 *     /h5md                version, author, creator
 *     /run                 where the file comes from (attributes), deck and
 *                          resolved_deck (texts); complete = 1 comes last
 *     /particles/all/box   edges/{step,time,value[T][3][3]}
 *     /particles/all/NAME  {step,time,value[T][N][3]}, or [N] where constant
 *     /observables/NAME    {step,time,value[T]}
 *     /statistics/GROUP    finished tables, a dataset a column
 *     /probes/NAME/FIELD   {step,time,value[T]} or value[T][components]
 *     /monitor/NAME        {step,time,value[T]}: the health of the run
 *
 * The file of a run on a grid (provenance.grid) has neither /h5md nor
 * /particles: it is no H5MD file, since its frames are files of their own
 * (vtkhdf.h), and the rest is laid out alike.
 *
 * step and time of one kind are hard links to the same datasets. Every dataset
 * has a `description`. It has a `unit`, too, with two exceptions that the
 * reader of MDAnalysis (2.4) asks for: in reduced units (lj) there are no unit
 * attributes at all, and the file opens with convert_units=False; and a unit of
 * positions, velocities, forces or time that this reader refuses, or converts
 * wrongly, is called `physical_unit`, with the same effect. That reader also
 * takes each /observables/NAME/value for a series of at least as many rows as
 * there are frames; so tables stand under /statistics, and a run that writes a
 * frame should write the observables of the same step before it.
 */
#ifndef WARPDECK_IO_H5MD_H
#define WARPDECK_IO_H5MD_H

#include <stddef.h>
#include <stdint.h>

#include "io/provenance.h"

struct ctx;
struct h5md;
struct field_frame;
struct observable;
struct result_table;

/* Create the file `path`; an existing one is refused (STATUS_USAGE) unless
 * overwrite. The new file is made beside it, as `path`.tmp, and takes its name
 * when its beginning is on the disk: a failure leaves an old file as it was,
 * and no new one. The caller owns *out. Errors: STATUS_IO with the path and the
 * reason. */
int h5md_create(struct ctx *ctx, const char *path, int overwrite,
                const struct provenance *from, int n_observables,
                const struct observable *observables, const char *time_unit,
                struct h5md **out);

/* What of a file is kept: everything up to `step`, but rows of observables and
 * frames up to steps of their own, since a run that ends writes both although
 * they are not due. */
struct h5md_keep {
    int64_t step, row, frame;
};

/* Go on with the file of a run that ended early, or was killed, from the state
 * it had at keep.step, mended where the kill has damaged it: rows and frames of
 * later steps are cut off, tables under /statistics and /risk removed;
 * /run/resumed/N says who goes on. The fields of frames, the observables and
 * the probes must be those of the file. The caller owns *out. Errors: STATUS_IO
 * with the path and the reason. */
int h5md_reopen(struct ctx *ctx, const char *path, struct h5md_keep keep,
                const struct provenance *from, int n_observables,
                const struct observable *observables, const char *time_unit,
                struct h5md **out);

/* Append a frame to /particles/all. The first frame decides which fields there
 * are; later ones have the same, of the same shape. */
int h5md_write_frame(struct ctx *ctx, struct h5md *f,
                     const struct field_frame *frame);

/* Append a row to /observables/NAME/{value,step,time}; values[n_observables] of
 * rank 0 count. Rows reach the disk about once a second, and with each frame.
 */
int h5md_write_observables(struct ctx *ctx, struct h5md *f, int64_t step,
                           double time, const double *values);

/* Make /probes/NAME/FIELD/{value,step,time} of n fields (the `heading` and what
 * follows it is not looked at) for a point of the flow, or find them in a
 * reopened file. A value has components[i] numbers. *probe is its number,
 * *last the step of the last row in the file (-1: none). */
int h5md_add_probe(struct ctx *ctx, struct h5md *f, const char *name,
                   const double position[3], const char *length_unit, int n,
                   const struct observable *fields, const int *components,
                   const char *time_unit, int *probe, int64_t *last);
/* The same for quantities of one number each, /GROUP/NAME/{value,step,time};
 * its number is one of the probes'. */
int h5md_add_series(struct ctx *ctx, struct h5md *f, const char *group, int n,
                    const struct observable *quantities, const char *time_unit,
                    int *series, int64_t *last);
/* Append a row; values of all fields and their components, of rank 0. As for
 * observables. */
int h5md_write_probe(struct ctx *ctx, struct h5md *f, int probe, int64_t step,
                     double time, const double *values);

/* Write finished tables under /statistics/GROUP, or ROOT/GROUP. Those of a root
 * that is not there yet appear together, or not at all where the run is killed
 * meanwhile. */
int h5md_write_tables(struct ctx *ctx, struct h5md *f, int n,
                      const struct result_table *tables);

/* Bring all that was written to the operating system: a killed run leaves it.
 */
int h5md_flush(struct ctx *ctx, struct h5md *f);

/* Write end time and `complete` = 1 (when the run finished), close, fsync. f is
 * gone afterwards, whatever is returned. `finished` = 0 leaves complete = 0:
 * for a run that was stopped, or failed in a way that all ranks know of. */
int h5md_close(struct ctx *ctx, struct h5md *f, int finished);

/* Close without writing more, after an error. All ranks come here or none. NULL
 * is fine. */
void h5md_abandon(struct h5md *f);

/* Steps of the last row and of the last frame; -1 where there is none. */
int64_t h5md_last_row(const struct h5md *f);
int64_t h5md_last_frame(const struct h5md *f);
int64_t h5md_frames(const struct h5md *f);
uint64_t
h5md_bytes(const struct h5md *f); /* payload bytes written, all ranks */
/* "HDF5 1.10.8 (parallel)" */
const char *h5md_library_version(void);

#endif
