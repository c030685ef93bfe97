/* machine.h: what this machine can do at most, measured.
 *
 * A rate of atoms or cells says little without the limits beside it: how fast
 * memory streams (STREAM triad, McCalpin 1995) and how many fused multiply-adds
 * the cores finish with the vectors these loops were compiled for.
 */
#ifndef WARPDECK_KERNELS_MACHINE_H
#define WARPDECK_KERNELS_MACHINE_H

struct machine_limits {
    int threads;
    int vector_bits;   /* of the vectors used; 128, 256 or 512 */
    double fma_double; /* floating-point operations a second, all threads; an
                        * FMA counts two */
    double fma_single;
    double triad; /* bytes a second, all threads; 0: not measured */
};

/* What this machine is. Numbers that are not known are 0. */
struct machine {
    char processor[128]; /* "AMD EPYC 9555" */
    int usable;          /* processors this process may run on */
    int packages, cores, numa_nodes;
    double memory; /* bytes */
};
void machine_describe(struct machine *out);

/* The number of OpenMP threads of this rank from now on; 0: what
 * OMP_NUM_THREADS says, else one, since ranks usually fill the cores. Before
 * device_open(). */
void machine_set_threads(int threads);

/* The FMA peak on `threads` threads; `seconds` is the length of each of the
 * best-of-several measurements. */
void machine_measure(int threads, double seconds, struct machine_limits *out);

/* Memory bandwidth by STREAM triad, a = b + s c: the best of several passes
 * over three arrays of n doubles, which together should be four times the
 * last-level cache. Three arrays read and written count, as STREAM does. Bytes
 * a second; 0 where memory for the arrays is missing. */
double machine_triad(int threads, unsigned long n);

/* An n that is right for this machine's caches. */
unsigned long machine_triad_size(void);

#endif
