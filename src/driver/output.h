/* output.h: the folder and the files of a run's results.
 *
 * What can go wrong with a folder is found here, before the first step.
 */
#ifndef WARPDECK_DRIVER_OUTPUT_H
#define WARPDECK_DRIVER_OUTPUT_H

struct ctx;

struct output {
    char *folder; /* "." where none was given */
    char *h5, *log, *stop;
};

/* Name the files of `name` in `folder` (NULL: the current one), make the folder
 * where it is missing, prove that it can be written to, and refuse results that
 * exist (STATUS_USAGE) unless overwrite. `bytes`: what the run will write; too
 * little free space is warned about. Free *out whatever is returned.
 * Collective. Errors: STATUS_IO. */
int output_prepare(struct ctx *ctx, const char *folder, const char *name,
                   int overwrite, double bytes, struct output *out);
void output_free(struct output *out);

#endif
