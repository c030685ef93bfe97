/* banner.h: the first line of a run: what runs, where, and how. */
#ifndef WARPDECK_DRIVER_BANNER_H
#define WARPDECK_DRIVER_BANNER_H

#include <stddef.h>

struct ctx;
struct job;

/* On rank 0; with the warnings that belong to the start. */
void banner_print(struct ctx *ctx, const struct job *job);

/* "2 ranks x 1 thread, cpu (AVX-512), double" */
void banner_machine(struct ctx *ctx, const struct job *job, char *text,
                    size_t size);

#endif
