/* topology.h: who is bound to whom, carried along by the particles.
 *
 * Each rank knows the terms (bonds, angles, ..., pairs that bonds exclude) of
 * the particles it owns, and only those. A particle carries its terms when it
 * changes its owner; a term of several particles is thus known on each rank
 * that owns one of them. Before a pair list is built topology_terms() lists
 * the terms of this rank, each once, for md_kernels.set_terms().
 *
 * Terms do not change during a run.
 */
#ifndef WARPDECK_DOMAIN_TOPOLOGY_H
#define WARPDECK_DOMAIN_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/md/md_terms.h"

struct ctx;
struct md_particle;
struct topology;

/* Without any terms. Errors: STATUS_MEMORY. */
int topology_create(struct ctx *ctx, struct topology **out);
void topology_destroy(struct topology *t);

/* Give a particle of this rank (n of its) terms, to stand behind those it has.
 * Every term has the id among its ids. Copied. Errors: STATUS_MEMORY. */
int topology_add(struct ctx *ctx, struct topology *t, int64_t id,
                 const struct md_term *terms, size_t n);

/* Put the terms of each particle into the order of kind, ids and type, whatever
 * the order in which they came. Once, when all are here. */
void topology_sort(struct topology *t);

/* The terms of a particle of this rank, *n of them; NULL where it has none.
 * Valid until the next change. */
const struct md_term *topology_of(const struct topology *t, int64_t id,
                                  size_t *n);

/* ---- for the particles that change owners ---- */

/* Bytes that a particle's terms make in a message (a multiple of 8). */
size_t topology_packed_bytes(const struct topology *t, int64_t id);
/* Write them to `to` and forget them here; returns the bytes. */
size_t topology_pack(struct topology *t, int64_t id, void *to);
/* Take what topology_pack() wrote, of one particle after another. Errors:
 * STATUS_MEMORY, STATUS_INTERNAL for bytes that make no sense. */
int topology_unpack(struct ctx *ctx, struct topology *t, const void *from,
                    size_t bytes);

/* All terms of this rank's particles, each once, in the order of kind, ids and
 * type. So a run that goes on with the same particles, wherever they stand and
 * however they came, adds up the same terms in the same order. *out, *n are
 * owned by the topology until the next call. Errors: STATUS_MEMORY. */
int topology_terms(struct ctx *ctx, struct topology *t,
                   const struct md_term **out, size_t *n);

/* Whether particles with terms have come or gone since topology_terms(). */
int topology_changed(const struct topology *t);

/* Bytes held. */
size_t topology_bytes(const struct topology *t);

/* The special pairs (MD_TERM_SPECIAL) that bonds make: particles 1, 2 and 3
 * bonds apart, the least distance counting, each pair once with the smaller id
 * first. bonds[n_bonds][2] are of the whole system, ids 1..n_particles. *out is
 * the caller's to free. Errors: STATUS_MEMORY. */
int topology_special(struct ctx *ctx, int64_t n_particles, size_t n_bonds,
                     const int64_t (*bonds)[2], struct md_term **out,
                     size_t *n);

#endif
