/* slots_cpu.c: the store's content slot by slot, for a run that is to go on bit
 * by bit.
 */
#include "kernels/md/store_cpu.h"

#include "base/error.h"

int md_take_slots(struct ctx *ctx, const struct md_store *s,
                  struct md_slot *out)
{
    size_t n = 0, slots = (size_t)s->n_clusters * (size_t)LANES;
    if (s->n_inbox > 0)
        return FAIL(ctx, STATUS_INTERNAL, "particles are not sorted yet");
    for (size_t slot = 0; slot < slots; slot++) {
        struct md_slot *to = &out[n];
        if (s->id[slot] == 0)
            continue;
        *to = (struct md_slot){
            .p = {.charge = s->charge ? (double)s->charge[slot] : 0,
                  .id = s->id[slot],
                  .species = s->species[slot]}};
        for (int d = 0; d < 3; d++) {
            size_t k = SLOT(slot, d);
            to->p.position[d] = (double)s->x[k] + s->state_origin[d];
            to->p.velocity[d] = (double)s->v[k];
            to->p.image[d] = s->image[slot][d];
            to->listed[d] = (double)s->listed[k] + s->state_origin[d];
            to->moved[d] = s->moved[k];
        }
        n++;
    }
    return 0;
}

static void put_slot(struct md_store *s, size_t slot,
                     const struct md_slot *from)
{
    for (int d = 0; d < 3; d++) {
        size_t k = SLOT(slot, d);
        s->x[k] = (state)(from->p.position[d] - s->state_origin[d]);
        s->v[k] = (state)from->p.velocity[d];
        s->image[slot][d] = from->p.image[d];
        s->moved[k] = from->moved[d];
#if MD_PRECISION == 2
        s->pair_x[k] = (scalar)(s->x[k] - s->origin[d]);
#endif
    }
}

int md_put_slots(struct ctx *ctx, struct md_store *s, const struct md_slot *in,
                 size_t n)
{
    size_t at = 0, slots = (size_t)s->n_clusters * (size_t)LANES;
    for (size_t slot = 0; slot < slots; slot++) {
        if (s->id[slot] == 0)
            continue;
        if (at >= n || in[at].p.id != s->id[slot])
            return FAIL(ctx, STATUS_INTERNAL,
                        "particle %lld does not stand where it stood",
                        (long long)s->id[slot]);
        put_slot(s, slot, &in[at++]);
    }
    if (at != n)
        return FAIL(ctx, STATUS_INTERNAL, "%zu particles instead of %zu", at,
                    n);
    return 0;
}
