/* reference_store.h: what the files of the reference kernels share. */
#ifndef WARPDECK_TESTS_MD_REFERENCE_STORE_H
#define WARPDECK_TESTS_MD_REFERENCE_STORE_H

#include "reference_kernels.h"

struct body {
    struct md_particle p;
    double force[3];
    double start[3]; /* position when the list would have been built */
};

struct chosen {
    size_t body;
    double shift[3];
};

/* A halo copy as it travels; between redistributions the position alone. */
struct record {
    double position[3];
    int64_t id;
    int32_t species, unused;
};

struct md_store {
    struct md_setup setup;
    struct lj_coeff coeff[MD_SPECIES_MAX * MD_SPECIES_MAX];
    struct body *body;
    size_t n, capacity;
    struct md_particle *leaver;
    size_t n_leavers;
    struct chosen *chosen;
    size_t n_chosen;
    struct record *halo;
    size_t n_halo;
    uint64_t lists;
};

/* From b to the image of a that counts: the distance that brings d nearest to 0
 * in a box of that length. */
double reference_nearest(double d, double length);

int reference_create(struct ctx *ctx, const struct md_setup *setup,
                     struct md_store **out);
void reference_destroy(struct md_store *s);
size_t reference_count(const struct md_store *s);
void reference_counters(const struct md_store *s, struct md_counters *out);
int reference_insert(struct ctx *ctx, struct md_store *s,
                     const struct md_particle *p, size_t n);
void reference_gather(const struct md_store *s, struct md_particle *out,
                      double (*force)[3]);
int reference_extract_leavers(struct ctx *ctx, struct md_store *s,
                              const struct md_particle **out, size_t *n);
int reference_sort(struct ctx *ctx, struct md_store *s);
int reference_select_halo(struct ctx *ctx, struct md_store *s, int n_channels,
                          const struct md_channel *channels, size_t *counts);
size_t reference_halo_record_bytes(int with_species);
void reference_pack_halo(struct md_store *s, int with_species, void *buffer);
int reference_accept_halo(struct ctx *ctx, struct md_store *s, size_t n,
                          const void *buffer);
void reference_unpack_halo(struct md_store *s, const void *buffer);
int reference_build_list(struct ctx *ctx, struct md_store *s);

#endif
