/* staging.h: output that does not stop the run.
 *
 * Frames and rows are copied and handed to a worker (base/worker.h), which
 * writes them while the solver goes on; HDF5 bears one caller at a time, so
 * whoever writes by himself (checkpoints, final tables) calls staging_drain()
 * before. Without a worker all is written at once. The files are the same.
 *
 * A failure of the worker is agreed on: each rank asks staging_failed(), and
 * when one says so, all call staging_drain(), which returns it.
 */
#ifndef WARPDECK_DRIVER_STAGING_H
#define WARPDECK_DRIVER_STAGING_H

#include <stddef.h>
#include <stdint.h>

#include "domain/field.h"
#include "io/vtkhdf.h"

struct ctx;
struct h5md;
struct job;
struct worker;

struct staging {
    struct worker *worker; /* NULL: what is to be written is written at once */
    struct h5md *file;     /* borrowed */
    int file_failed;       /* a write failed: touch the file no more */
    int64_t row;           /* the last one written; -1: none */
};

/* Bytes that a rank of this run will hold in copies at most, about; 0 where
 * frames are written at once. */
double staging_bytes(const struct ctx *ctx, const struct job *job);

/* As [output] staging says; the reason for another choice is told. After the
 * files are open. Collective. */
int staging_begin(struct ctx *ctx, const struct job *job, struct h5md *file,
                  struct staging *out);

/* Write, or have it written. What is given is borrowed for the call. Errors:
 * of writing at once, and STATUS_MEMORY. Collective. */
int staging_row(struct ctx *ctx, struct staging *s, int64_t step, double time,
                int n, const double *values);
int staging_probe(struct ctx *ctx, struct staging *s, int probe, int64_t step,
                  double time, int n, const double *values);
int staging_frame(struct ctx *ctx, struct staging *s,
                  const struct field_frame *frame, int constants);
int staging_grid(struct ctx *ctx, struct staging *s, struct vtkhdf *to,
                 const struct grid_frame *frame, const struct vtkhdf_box *box,
                 int n_names, const char *const *names);

/* Whether the worker failed, on this rank. */
int staging_failed(const struct staging *s);
/* Wait until all is written. The files are the caller's then. Collective. */
int staging_drain(struct ctx *ctx, struct staging *s);
/* Drain and end the worker, whatever failed. Collective. */
void staging_end(struct ctx *ctx, struct staging *s);

#endif
