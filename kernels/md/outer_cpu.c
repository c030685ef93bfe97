/* outer_cpu.c: walls, constant fields, and groups that are pulled or held. */
#include "kernels/md/store_cpu.h"

/* Potentials of walls on one slot. */
static void run_walls(struct md_store *s, const struct md_outer *o, size_t slot,
                      double *energy, double on_wall[MD_FACES])
{
    for (int k = 0; k < o->n_walls; k++) {
        const struct md_wall *w = &o->walls[k];
        int d = w->face / 2, upper = w->face % 2;
        double x = (double)s->x[SLOT(slot, d)] + s->state_origin[d], force;
        double r = upper ? o->hi[d] - x : x - o->lo[d];
        if (!(r < w->cutoff) || !w->acts[s->species[slot]])
            continue;
        *energy += md_wall_energy(w, r, &force);
        s->f[SLOT(slot, d)] += (scalar)(upper ? -force : force);
        on_wall[w->face] += upper ? force : -force;
    }
}

static double unwrapped(const struct md_store *s, size_t slot, int d)
{
    const int32_t *n = s->image[slot];
    double x = (double)s->x[SLOT(slot, d)] + s->state_origin[d] +
               n[d] * s->setup.box_length[d];
    if (d == 0)
        return x + n[1] * s->setup.tilt[0] + n[2] * s->setup.tilt[1];
    return d == 1 ? x + n[2] * s->setup.tilt[2] : x;
}

void md_outer_forces(struct md_store *s, const struct md_outer *o,
                     struct md_sums *sums, double on_wall[MD_FACES])
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    double walls = 0, fields = 0;
    for (size_t slot = 0; slot < slots; slot++) {
        if (s->id[slot] == 0)
            continue;
        double q = s->charge ? (double)s->charge[slot] : 0;
        double m = s->setup.mass[s->species[slot]] / s->setup.acceleration;
        double pull[3] = {0, 0, 0};
        for (int k = 0; k < o->n_groups; k++)
            if (md_group_has(&o->groups[k], s->id[slot], s->species[slot]))
                for (int d = 0; d < 3; d++)
                    pull[d] += o->groups[k].force[d];
        for (int d = 0; d < 3; d++) {
            double force =
                m * o->acceleration[d] + q * o->electric[d] + pull[d];
            double x = unwrapped(s, slot, d);
            s->f[SLOT(slot, d)] += (scalar)force;
            fields -= force * x;
        }
        run_walls(s, o, slot, &walls, on_wall);
        if (md_held_at(o, s->id[slot], s->species[slot]))
            for (int d = 0; d < 3; d++)
                s->f[SLOT(slot, d)] = 0;
    }
    if (!sums)
        return;
    sums->energy += walls + fields;
    sums->part[MD_ENERGY_WALL] += walls;
    sums->part[MD_ENERGY_FIELD] += fields;
}

/* Whether a wall acts on this slot that no particle can reach. */
static int is_closed(const struct md_store *s, const struct md_outer *o,
                     size_t slot, int face)
{
    for (int k = 0; k < o->n_walls; k++)
        if (o->walls[k].style == MD_WALL_LJ93 && o->walls[k].face == face &&
            o->walls[k].acts[s->species[slot]])
            return 1;
    return 0;
}

/* One coordinate behind a face back in front of it. Returns 0 where it cannot
 * be. */
static int mirror(struct md_store *s, const struct md_outer *o, size_t slot,
                  int d)
{
    size_t k = SLOT(slot, d);
    double lo = o->lo[d], hi = o->hi[d];
    double from = (double)s->x[k] + s->state_origin[d];
    int upper = from >= hi;
    double to = upper ? 2 * hi - from : 2 * lo - from;
    if (o->closed || is_closed(s, o, slot, 2 * d + upper) || to < lo || to > hi)
        return 0;
    s->x[k] = (state)(to - s->state_origin[d]);
    if ((double)s->x[k] + s->state_origin[d] >= hi) /* it stood on the face */
        s->x[k] = (state)(hi - (hi - lo) * 1e-7 - s->state_origin[d]);
    to = (double)s->x[k] + s->state_origin[d];
    if (to < lo)
        s->x[k] = (state)(lo + (hi - lo) * 1e-7 - s->state_origin[d]);
    s->v[k] = -s->v[k];
    s->moved[k] += (float)(to - from);
    if (s->pair_x != (scalar *)(void *)s->x)
        s->pair_x[k] = (scalar)(to - s->origin[d]);
    return 1;
}

int64_t md_reflect(struct md_store *s, const struct md_outer *o)
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    int64_t lost = 0;
    for (int d = 0; d < 3; d++) {
        if (!o->walled[d])
            continue;
        for (size_t slot = 0; slot < slots; slot++) {
            double x = (double)s->x[SLOT(slot, d)] + s->state_origin[d];
            if ((x < o->lo[d] || x >= o->hi[d]) && s->id[slot] != 0 &&
                !mirror(s, o, slot, d))
                lost = s->id[slot];
        }
    }
    return lost;
}

void md_hold(struct md_store *s)
{
    const struct md_outer *o = s->setup.outer;
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    for (size_t slot = 0; slot < slots; slot++) {
        if (s->id[slot] == 0)
            continue;
        const double *v = md_held_at(o, s->id[slot], s->species[slot]);
        for (int d = 0; d < 3 && v; d++)
            s->v[SLOT(slot, d)] = (state)v[d];
    }
}
