/* output.h: the folder and the files of a run's results.
 *
 * What can go wrong with a folder is found here, before the first step.
 */
#ifndef WARPDECK_DRIVER_OUTPUT_H
#define WARPDECK_DRIVER_OUTPUT_H

#include <stddef.h>

struct ctx;

struct output {
    char *folder; /* "." where none was given */
    char *h5, *log, *stop, *lock;
    char *aside; /* name of the results while they are being written to */
    size_t made; /* bytes of `folder` up to the first one that was missing */
};

/* Whether there are results, those of a run included that was killed while it
 * wrote them. */
int output_has_results(const struct output *o);

/* Name the files of `name` in `folder` (NULL: the current one), and make the
 * folder where it is missing. Free *out whatever is returned. Collective.
 * Errors: STATUS_IO. */
int output_name(struct ctx *ctx, const char *folder, const char *name,
                struct output *out);

/* What is done about results that are there. */
enum output_existing { OUTPUT_REFUSE, OUTPUT_REPLACE, OUTPUT_GO_ON };

/* Prove that the folder can be written to, and refuse results and checkpoints
 * of `name` that exist (STATUS_USAGE) unless told otherwise. `bytes`: what the
 * run will write; too little free space is warned about. Collective. Errors:
 * STATUS_IO. */
int output_prepare(struct ctx *ctx, const struct output *out, const char *name,
                   enum output_existing existing, double bytes);
/* Also removes the folders that output_name() made, where nothing is in them.
 */
void output_free(struct output *out);

#endif
