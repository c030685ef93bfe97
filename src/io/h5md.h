/* h5md.h: NAME.h5, the result file of a run, in H5MD 1.1 layout.
 *
 * Opened at the start of a run, it grows by frames and observables and is
 * flushed after each, so that a killed run leaves all that was finished. All
 * calls are collective over ctx->comm. A failed write leaves what stood before
 * readable where HDF5 allows it.
 */
#ifndef WARPDECK_IO_H5MD_H
#define WARPDECK_IO_H5MD_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct h5md;
struct field_frame;
struct observable;
struct result_table;

/* What goes to /run: where the file comes from. Strings are borrowed for the
 * call only. */
struct provenance {
    const char *solver, *title;
    const char *deck_path;
    const char *deck, *resolved; /* bytes, sizes below; stored as datasets */
    size_t deck_size, resolved_size;
    const char *version, *git, *flags, *libraries;
    const char *device, *precision, *units, *command;
    const char *host;
    int ranks, threads;
    int decomposition[3];
};

/* Create the file `path`; an existing one is refused (STATUS_USAGE) unless
 * overwrite. particle_count > 0 makes /particles/all. `name_of` species: NULL or
 * n_species texts. The caller owns *out. Errors: STATUS_IO with the path and the
 * reason. */
int h5md_create(struct ctx *ctx, const char *path, int overwrite,
                const struct provenance *from, int n_observables,
                const struct observable *observables, const char *time_unit,
                struct h5md **out);

/* Append a frame to /particles/all. */
int h5md_write_frame(struct ctx *ctx, struct h5md *f,
                     const struct field_frame *frame);

/* Append a row to /observables/NAME/{value,step,time}; values[n_observables] of
 * rank 0 count. */
int h5md_write_observables(struct ctx *ctx, struct h5md *f, int64_t step,
                           double time, const double *values);

/* Write a finished table under /observables/GROUP. */
int h5md_write_table(struct ctx *ctx, struct h5md *f,
                     const struct result_table *table);

/* Write end time and `complete` = 1 (when the run finished), close, fsync. f is
 * gone afterwards, whatever is returned. `finished` = 0 leaves complete = 0. */
int h5md_close(struct ctx *ctx, struct h5md *f, int finished);

/* Close without writing more, after an error. */
void h5md_abandon(struct h5md *f);

int64_t h5md_frames(const struct h5md *f);
uint64_t h5md_bytes(const struct h5md *f); /* payload bytes written, all ranks */
const char *h5md_path(const struct h5md *f);
/* "HDF5 1.10.8 (parallel)" */
const char *h5md_library_version(void);

#endif
