/* samples.h: small CUDA programs with a known result, and what can be left out
 * of them to make them wrong. They show that the simulator runs right programs
 * right, and that it does not do so with wrong ones; with nvcc they run on a
 * card.
 */
#ifndef WARPDECK_TESTS_CUDA_SAMPLES_H
#define WARPDECK_TESTS_CUDA_SAMPLES_H

/* What is left out. */
enum plant {
    NOTHING,
    BARRIER,       /* sum_is_right, before the partial sums are read */
    REUSE_BARRIER, /* stencil_is_right, before the tile is overwritten */
    SUMS_BARRIER,  /* sums_are_right, before the parts of the next sum */
    WARP_BARRIER,  /* warp_is_right */
    STREAM_WAIT,   /* stencil_is_right, of the host for a stream */
    EVENT_WAIT,    /* stencil_is_right, of a stream for another */
    STAGING_WAIT,  /* staging_is_right, before the buffer is used again */
    FILL           /* cells_is_right, of the counters with zero */
};

/* Each runs on the card and returns whether the result is as on the host. */
bool sum_is_right(enum plant without);     /* shuffles, shared memory */
bool sums_are_right(enum plant without);   /* shared memory, used twice */
bool warp_is_right(enum plant without);    /* exchange within a warp */
bool stencil_is_right(enum plant without); /* two streams, events */
bool staging_is_right(enum plant without); /* copies through one buffer */
bool cells_is_right(enum plant without);   /* atomics, sums and sorting */
bool graph_is_right(void);                 /* captured and launched again */

#endif
