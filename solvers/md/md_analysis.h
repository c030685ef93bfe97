/* md_analysis.h: what is measured on the way: each analysis has a section of
 * the deck, a state of its own, and tables in the file.
 *
 * md_analysis.c calls them in turn and knows nothing of what they do; g(r) and
 * the mean squared displacement, which others look at, are its own.
 */
#ifndef WARPDECK_SOLVERS_MD_ANALYSIS_H
#define WARPDECK_SOLVERS_MD_ANALYSIS_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

struct ctx;
struct md;
struct md_particle;
struct params;
struct result_table;
struct state_array;
struct state_io;

/* When an analysis takes its samples: the first member of its state. */
struct md_due {
    int64_t every, start; /* steps */
};

struct md_analysis {
    const char *section;
    int needs_sums; /* its samples want md->sums of their step */
    /* Whether they want md_kernels.pair_virial(); or NULL: no. */
    int (*needs_shares)(const void *state);
    /* A state with what the deck says, into *state; NULL: no memory. Errors of
     * the deck go to params_error. */
    void *(*read)(struct params *p, struct md *md);
    /* What can only be said once the box is known; or NULL. */
    void (*check)(struct params *p, const struct md *md, void *state);
    /* Memory for its counts, all 0. Errors: STATUS_MEMORY. */
    int (*allocate)(struct ctx *ctx, const struct md *md, void *state);
    /* Bytes of that on this rank. */
    double (*bytes)(const struct md *md, const void *state);
    /* Each collective, with the same results on all ranks. */
    int (*sample)(struct ctx *ctx, struct md *md, void *state);
    /* What a checkpoint has of it, into out[MD_ARRAYS_MAX]; returns how many.
     * It begins now where a checkpoint has nothing of the first. */
    int (*arrays)(const struct md *md, void *state, struct state_array *out);
    /* In place of arrays, where that is not all. */
    int (*save)(struct ctx *ctx, const struct md *md, void *state,
                struct state_io *io);
    int (*restore)(struct ctx *ctx, const struct md *md, void *state,
                   struct state_io *io);
    int (*tables)(struct ctx *ctx, struct md *md, void *state);
    void (*free)(void *state);
};

enum { MD_ANALYSES = 6, MD_ARRAYS_MAX = 8 };

extern const struct md_analysis md_vacf, md_profile, md_map, md_green_kubo,
    md_structure, md_bond_sizes;

/* ---- md_analysis.c ---- */
int md_analysis_read(struct ctx *ctx, struct params *p, struct md *md);
/* Errors that need the box. */
void md_analysis_check(struct params *p, const struct md *md);
int md_analysis_start(struct ctx *ctx, struct md *md);
/* Memory only, for a state that is restored. */
int md_analysis_allocate(struct ctx *ctx, struct md *md);
int md_analysis_step(struct ctx *ctx, struct md *md);
/* Whether sums of energy and virial are wanted of the present step. */
int md_analysis_looks(const struct md *md);
/* Whether some analysis wants md_kernels.pair_virial(). */
int md_analysis_needs_shares(const struct md *md);
/* Whether lengths of bonds are asked for, also of those without a force. */
int md_analysis_counts_bonds(const struct md *md);
double md_analysis_bytes(const struct md *md);
int md_analysis_save(struct ctx *ctx, const struct md *md, struct state_io *io);
int md_analysis_restore(struct ctx *ctx, struct md *md, struct state_io *io);
int md_analysis_tables(struct ctx *ctx, struct md *md);
void md_analysis_free(struct md *md);
/* The mean squared displacement of the present step into md->msd_now. */
int md_msd_measure(struct ctx *ctx, struct md *md);
/* "A-B": what the results call pair `channel`. */
void md_pair_name(const struct md *md, int channel, char *text, size_t size);
/* The histogram of pair `channel`, of all ranks, as r and g(r) by bin. Allen
 * and Tildesley (2017), section 8.2. Collective. */
int md_rdf_table(struct ctx *ctx, const struct md *md, int channel, double *r,
                 double *g);
/* For each analysis: particles of all ranks by id, of which this rank's slab is
 * in *rows, to be freed: those of particles_slab(). Collective. */
int md_rows_by_id(struct ctx *ctx, const struct md *md,
                  struct md_particle **rows);

/* From mass per volume to the unit of densities: g/cm^3 where masses are in
 * g/mol and lengths in angstrom, else the deck's. md_observe_box.c */
double md_density_factor(const struct md *md);

/* ---- md_results.c: tables for the driver ---- */
struct md_table;

/* The tables that are made, in their order; all memory is theirs. */
struct md_results {
    int n;
    struct md_table *first, *last;
    struct result_table *tables; /* [n], when they are handed out */
};

/* A table below /statistics, of at most `columns` columns of `rows` numbers.
 * NULL: no memory, which is recorded. */
struct md_table *md_add_table(struct ctx *ctx, struct md *md, int columns,
                              int64_t rows, const char *description,
                              const char *group, ...)
    __attribute__((format(printf, 6, 7)));
/* Its next column, to be filled in. */
double *md_add_column(const struct md *md, struct md_table *t, const char *name,
                      struct dimension unit);
/* The same, name and unit word for word. */
double *md_add_column_text(struct md_table *t, const char *name,
                           const char *unit);
/* Its next column, of texts that live as long as the solver. */
const char **md_add_texts(struct md_table *t, const char *name);
void md_results_free(struct md *md);

#endif
