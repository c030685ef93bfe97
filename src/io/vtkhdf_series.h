/* vtkhdf_series.h: the list of frames, STEM.hdf.series, in the JSON that
 * ParaView reads. For rank 0 alone; private to src/io.
 */
#ifndef WARPDECK_IO_VTKHDF_SERIES_H
#define WARPDECK_IO_VTKHDF_SERIES_H

#include <stddef.h>
#include <stdint.h>

struct ctx;

struct vtkhdf_series {
    char *stem;
    size_t n;
    int64_t *steps;
    double *times;
};

/* "STEM_000100.hdf" + ending, in new memory; NULL: no memory. */
char *vtkhdf_path(const char *stem, int64_t step, const char *ending);

/* Read the list that is there, if any, and keep frames up to step `keep`; the
 * files of later ones are deleted, also those that no list has, and so is the
 * list where it gets empty. Errors: STATUS_IO. */
int vtkhdf_series_begin(struct ctx *ctx, const char *stem, int64_t keep,
                        struct vtkhdf_series *out);
/* Add a frame and replace the list. */
int vtkhdf_series_add(struct ctx *ctx, struct vtkhdf_series *s, int64_t step,
                      double time);
void vtkhdf_series_free(struct vtkhdf_series *s);

#endif
