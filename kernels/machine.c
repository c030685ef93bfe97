#include "kernels/machine.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

#include "base/timer.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

typedef double vector_double __attribute__((vector_size(VECTOR_BYTES)));
typedef float vector_float __attribute__((vector_size(VECTOR_BYTES)));

/* ---- what there is ---- */

/* The processor's name as Linux tells it. */
static void find_processor(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "unknown");
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (f == NULL)
        return;
    while (fgets(line, sizeof(line), f) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    fclose(f);
}

static int count_usable(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return CPU_COUNT(&set);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void count_parts(struct machine *m)
{
#ifdef HAVE_HWLOC
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0)
        return;
    if (hwloc_topology_load(t) == 0) {
        m->packages = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE);
        m->cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
        m->numa_nodes = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE);
    }
    hwloc_topology_destroy(t);
#else
    (void)m;
#endif
}

void machine_describe(struct machine *out)
{
    *out = (struct machine){.usable = count_usable()};
    find_processor(out->processor, sizeof(out->processor));
    count_parts(out);
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0)
        out->memory = (double)pages * (double)bytes;
}

void machine_set_threads(int threads)
{
#ifdef _OPENMP
    char text[16];
    if (threads == 0 && getenv("OMP_NUM_THREADS") != NULL)
        return;
    threads = threads > 0 ? threads : 1;
    omp_set_num_threads(threads);
    /* Whoever asks the environment later gets the same answer. */
    snprintf(text, sizeof(text), "%d", threads);
    setenv("OMP_NUM_THREADS", text, 1);
#else
    (void)threads;
#endif
}

/* ---- what it can do ---- */

/* Two FMA pipes of four to five cycles need at least ten chains; with sixteen
 * registers of AVX2, ten and the two constants fit. */
enum { CHAINS = 10, ROUNDS = 20000, TRIES = 5 };

/* ROUNDS steps of x = x * a + b in CHAINS vectors, with a and b such that x
 * stays near one. Returns a number that depends on all, so that nothing is
 * optimised away. */
#define FMA_CHAINS(name, vector, scalar)                                     \
    static double name(scalar start)                                         \
    {                                                                        \
        vector x[CHAINS];                                                    \
        const vector zero = {0};                                             \
        const vector a = zero + (scalar)0.999 * start;                       \
        const vector b = zero + (scalar)0.001 * start;                       \
        for (int c = 0; c < CHAINS; c++)                                     \
            x[c] = zero + start + (scalar)c;                                 \
        for (int i = 0; i < ROUNDS; i++) {                                   \
            _Pragma("GCC unroll 10") for (int c = 0; c < CHAINS; c++) x[c] = \
                x[c] * a + b;                                                \
        }                                                                    \
        vector sum = zero;                                                   \
        for (int c = 0; c < CHAINS; c++)                                     \
            sum += x[c];                                                     \
        double total = 0;                                                    \
        for (size_t k = 0; k < VECTOR_BYTES / sizeof(scalar); k++)           \
            total += (double)sum[k];                                         \
        return total;                                                        \
    }

FMA_CHAINS(chains_double, vector_double, double)
FMA_CHAINS(chains_single, vector_float, float)

/* Keeps results from being optimised away. */
static volatile double sink;

/* Operations a second of all threads together. */
static double fma_rate(int threads, double seconds, int single)
{
    double lanes = single ? VECTOR_BYTES / 4 : VECTOR_BYTES / 8;
    double best = 0;
    for (int t = 0; t < TRIES; t++) {
        double total = 0, calls = 0, start = timer_now();
#pragma omp parallel num_threads(threads) reduction(+ : total, calls)
        {
            double mine = 0, begun = timer_now();
            do {
                /* depends on the last result, so that no call is left out */
                double begin = 1 + 1e-30 * mine;
                mine =
                    single ? chains_single((float)begin) : chains_double(begin);
                calls += 1;
            } while (timer_now() - begun < seconds / TRIES);
            total += mine;
        }
        double rate =
            calls * CHAINS * ROUNDS * 2 * lanes / (timer_now() - start);
        best = rate > best ? rate : best;
        sink = total;
    }
    return best;
}

void machine_measure(int threads, double seconds, struct machine_limits *out)
{
    threads = threads > 0 ? threads : 1;
    *out = (struct machine_limits){
        .threads = threads,
        .vector_bits = 8 * VECTOR_BYTES,
        .fma_double = fma_rate(threads, seconds, 0),
        .fma_single = fma_rate(threads, seconds, 1),
    };
}

unsigned long machine_triad_size(void)
{
    long cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    const long least = 8L << 20, most = 256L << 20; /* bytes an array */
    long bytes = cache > 0 ? cache * 4 / 3 : 32L << 20;
    bytes = bytes < least ? least : bytes > most ? most : bytes;
    return (unsigned long)bytes / sizeof(double);
}

double machine_triad(int threads, unsigned long n)
{
    double *restrict a = malloc(n * sizeof(double));
    double *restrict b = malloc(n * sizeof(double));
    double *restrict c = malloc(n * sizeof(double));
    double best = 0;
    threads = threads > 0 ? threads : 1;
    if (a != NULL && b != NULL && c != NULL) {
        /* Written first by the thread that uses it, so that it lies near. */
#pragma omp parallel for num_threads(threads) schedule(static)
        for (unsigned long i = 0; i < n; i++) {
            a[i] = 0;
            b[i] = 1;
            c[i] = 2;
        }
        for (int t = 0; t < 2 * TRIES; t++) {
            double start = timer_now();
            double s = 3 + t;
#pragma omp parallel for num_threads(threads) schedule(static)
            for (unsigned long i = 0; i < n; i++)
                a[i] = b[i] + s * c[i];
            double rate =
                3 * sizeof(double) * (double)n / (timer_now() - start);
            best = rate > best ? rate : best;
            sink = a[n / 2];
        }
    }
    free(a);
    free(b);
    free(c);
    return best;
}
