/* term_errors.h: what is wrong with terms along bonds, in the same words on
 * every backend.
 */
#ifndef WARPDECK_KERNELS_MD_TERM_ERRORS_H
#define WARPDECK_KERNELS_MD_TERM_ERRORS_H

#include <stdint.h>

#include "base/error.h"
#include "kernels/md/md_terms.h"

/* Particle k of the term is neither own nor near. */
static inline int fail_missing(struct ctx *ctx, const struct md_term *term,
                               int k)
{
    static const char *const names[MD_TERM_KINDS] = {
        "bond",        "angle",      "dihedral",      "improper",
        "bonded pair", "rigid bond", "rigid bonds",   "rigid bonds",
        "rigid bonds", "1-4 pair",   "correction map"};
    int64_t other = term->id[k == 0 ? 1 : 0];
    return FAIL(ctx, STATUS_LOST_PARTICLES,
                "%s of particles %lld and %lld: they are farther apart than "
                "this rank can see; the bond broke, or the cutoff is too short "
                "for it",
                names[term->kind], (long long)other, (long long)term->id[k]);
}

/* A FENE bond of these two has no force. */
static inline int fail_broken(struct ctx *ctx, const int64_t id[2],
                              double length, double most)
{
    return FAIL(ctx, STATUS_PHYSICS,
                "the FENE bond of particles %lld and %lld is %g long, longer "
                "than its %g; the timestep is probably too large, or the start "
                "is too tight",
                (long long)id[0], (long long)id[1], length, most);
}

/* A group of rigid bonds, of which this is the first particle. */
static inline int fail_torn(struct ctx *ctx, int64_t id)
{
    return FAIL(ctx, STATUS_PHYSICS,
                "the rigid bonds of particle %lld cannot be kept: its group "
                "was torn apart; the timestep is probably too large, or the "
                "start is too tight",
                (long long)id);
}

#endif
