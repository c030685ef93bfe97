/* provenance.h: where a file comes from.
 *
 * Every file of the suite has it: attributes of / say what wrote the file, and
 * /run has the deck, the program and the machine, so that a result found on a
 * disk can be made again.
 */
#ifndef WARPDECK_IO_PROVENANCE_H
#define WARPDECK_IO_PROVENANCE_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct h5;

enum { PROVENANCE_FORMAT_VERSION = 1 };

/* What goes to /run: where the file comes from. Strings are borrowed for the
 * call only; those of rank 0 count. NULL is "". */
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
    int grid; /* 1: fields on a grid, whose files are no H5MD */
};

/* Whether the datasets of the file have a `unit`. Those of particles in reduced
 * units (lj) have none, see h5md.h. */
int provenance_has_units(const struct provenance *from);

/* Write it: /, /run (complete = 0), /run/deck and /run/resolved_deck. Returns
 * this rank's outcome; all ranks come here. */
int provenance_write(struct ctx *ctx, struct h5 *f,
                     const struct provenance *from);
/* The attributes of the root alone, a part of the above. */
int provenance_write_root(struct ctx *ctx, struct h5 *f,
                          const struct provenance *from);
/* /run's attribute `end`: now; and complete = 1. As above. */
int provenance_write_end(struct ctx *ctx, struct h5 *f);
int provenance_write_complete(struct ctx *ctx, struct h5 *f);
/* A run that goes on with a file: /run/resumed/N, counted from 0, has the step
 * it went on from and what may have changed since; complete = 0. As above. */
int provenance_write_resumed(struct ctx *ctx, struct h5 *f,
                             const struct provenance *from, int64_t step);

#endif
