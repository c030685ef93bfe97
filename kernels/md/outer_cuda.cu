/* outer_cuda.cu: walls, constant fields, and groups that are pulled or held. */
#include "kernels/md/outer_cuda.h"
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/team_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the card keeps ---- */

static size_t walls_of(const struct md_outer *o)
{
    return (size_t)o->n_walls;
}

static size_t words_of(const struct md_outer *o)
{
    size_t n = 0;
    for (int k = 0; k < o->n_groups; k++)
        n += o->groups[k].member ? (size_t)o->groups[k].n_words : 0;
    return n;
}

/* Which species walls and groups are for: a row of bytes each. */
static int send_species(struct md_store *s, const struct md_outer *o)
{
    size_t n = (size_t)s->setup.n_species, walls = walls_of(o);
    size_t rows = walls + (size_t)o->n_groups;
    unsigned char *byte = (unsigned char *)malloc(rows * n + 1);
    if (!byte)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for walls and groups");
    for (size_t k = 0; k < rows; k++)
        memcpy(byte + k * n,
               k < walls ? o->walls[k].acts : o->groups[k - walls].has, n);
    int status = cuda_reserve(s, ARRAY_OUTER_SPECIES, rows * n + 1, 1,
                              "walls and groups");
    if (status == 0)
        status = cuda_to_device(
            s->ctx, s->device, s->array[ARRAY_OUTER_SPECIES].p, byte, rows * n);
    free(byte);
    return status;
}

template <class T>
static int send_list(struct md_store *s, enum md_array which, const T *list,
                     size_t n)
{
    TRY(cuda_reserve(s, which, n + 1, sizeof *list, "walls and groups"));
    return cuda_to_device(s->ctx, s->device, s->array[which].p, list,
                          n * sizeof *list);
}

static int send_walls(struct md_store *s, const struct md_outer *o)
{
    size_t n = walls_of(o);
    struct md_wall *walls = (struct md_wall *)malloc((n + 1) * sizeof *walls);
    if (!walls)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for walls and groups");
    for (size_t k = 0; k < n; k++) {
        walls[k] = o->walls[k];
        walls[k].acts = ARRAY(s, ARRAY_OUTER_SPECIES, unsigned char) +
                        k * (size_t)s->setup.n_species;
    }
    int status = send_list(s, ARRAY_WALLS, walls, n);
    free(walls);
    return status;
}

/* Groups, whose lists of members stand one behind the other. */
static int send_groups(struct md_store *s, const struct md_outer *o)
{
    size_t n = (size_t)o->n_groups, word = 0;
    TRY(cuda_reserve(s, ARRAY_MEMBERS, words_of(o) + 1, sizeof(int64_t),
                     "members of groups"));
    struct md_group *groups =
        (struct md_group *)malloc((n + 1) * sizeof *groups);
    if (!groups)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for walls and groups");
    for (size_t k = 0; k < n; k++) {
        groups[k] = o->groups[k];
        groups[k].has = ARRAY(s, ARRAY_OUTER_SPECIES, unsigned char) +
                        (walls_of(o) + k) * (size_t)s->setup.n_species;
        if (groups[k].member)
            groups[k].member = ARRAY(s, ARRAY_MEMBERS, int64_t) + word;
        word += groups[k].member ? (size_t)groups[k].n_words : 0;
    }
    int status = send_list(s, ARRAY_GROUPS, groups, n);
    for (size_t k = 0; k < n && status == 0; k++)
        if (groups[k].member)
            status = cuda_to_device(s->ctx, s->device, (void *)groups[k].member,
                                    o->groups[k].member,
                                    (size_t)groups[k].n_words *
                                        sizeof *groups[k].member);
    free(groups);
    return status;
}

static int is_sent(const struct md_store *s, const struct md_outer *o)
{
    return s->outer_sent == o->version + 1;
}

int cuda_outer_send(struct md_store *s, const struct md_outer *o)
{
    if (is_sent(s, o))
        return 0;
    TRY(send_species(s, o));
    TRY(send_walls(s, o));
    TRY(send_groups(s, o));
    s->outer_sent = o->version + 1;
    s->queue.epoch++;
    cuda_set_view(s);
    return 0;
}

int cuda_outer_ready(struct md_store *s, const struct md_outer *o)
{
    if (is_sent(s, o))
        return s->failed;
    cuda_settle(s);
    TRY(s->failed);
    return cuda_outer_send(s, o);
}

int cuda_outer_refresh(struct md_store *s)
{
    return s->setup.outer ? cuda_outer_send(s, s->setup.outer) : 0;
}

/* The same with the card's lists. */
static struct md_outer on_card(const struct md_store *s,
                               const struct md_outer *from)
{
    struct md_outer o = *from;
    o.walls = ARRAY(s, ARRAY_WALLS, struct md_wall);
    o.groups = ARRAY(s, ARRAY_GROUPS, struct md_group);
    return o;
}

/* ---- forces ---- */

/* Values: walls, fields, force on each face. */
enum { OUTER_VALUES = 2 + MD_FACES };

/* Forces on one particle; returns 1 where it is held. */
static __device__ __forceinline__ int
outer_force(const struct md_view &m, const struct md_outer &o, uint32_t i,
            double per_acceleration, double force[3],
            double value[OUTER_VALUES])
{
    int species = m.species[i], held = 0;
    int64_t id = m.id[i];
    double mass = m.mass[species] * per_acceleration;
    double q = charge_of(m, i);
    for (int d = 0; d < 3; d++)
        force[d] = mass * o.acceleration[d] + q * o.electric[d];
    for (int k = 0; k < o.n_groups; k++) {
        const struct md_group *g = &o.groups[k];
        if (!md_group_has(g, id, species))
            continue;
        held |= g->held;
        for (int d = 0; d < 3; d++)
            force[d] += g->force[d];
    }
    double x[3], n[3];
    for (int d = 0; d < 3; d++) {
        x[d] = (double)m.x[d * m.stride + i] + m.state_origin[d];
        n[d] = m.image[d * m.stride + i];
        value[1] -= force[d] * (x[d] + n[d] * m.box_length[d]);
    }
    value[1] -= force[0] * (n[1] * m.tilt[0] + n[2] * m.tilt[1]) +
                force[1] * n[2] * m.tilt[2];
    for (int k = 0; k < o.n_walls; k++) {
        const struct md_wall *w = &o.walls[k];
        int d = w->face / 2, upper = w->face % 2;
        double at = x[0], push, r;
        at = d == 1 ? x[1] : d == 2 ? x[2] : at;
        r = upper ? o.hi[d] - at : at - o.lo[d];
        if (!(r < w->cutoff) || !w->acts[species])
            continue;
        value[0] += md_wall_energy(w, r, &push);
        push = upper ? -push : push;
        for (int e = 0; e < 3; e++)
            force[e] += e == d ? push : 0;
        for (int f = 0; f < MD_FACES; f++)
            value[2 + f] -= f == w->face ? push : 0;
    }
    return held;
}

/* column: each particle's values, or NULL; else sums by block. */
template <int WANT>
static __device__ __forceinline__ void
add_outer(const struct md_view &m, const struct md_outer &o,
          double per_acceleration, double *partial, double *column)
{
    uint32_t i = thread_index();
    double value[OUTER_VALUES] = {0};
    if (i < m.n_own) {
        double force[3];
        int held = outer_force(m, o, i, per_acceleration, force, value);
        for (int d = 0; d < 3; d++) {
            scalar *f = m.f + d * m.stride + i;
            *f = held ? 0 : *f + (scalar)force[d];
        }
        for (int k = 0; k < OUTER_VALUES && WANT && column; k++)
            column[k * m.stride + i] = value[k];
    }
    if (WANT)
        leave_sums(value, partial);
}

static int launch(struct md_store *s, const struct md_outer *o, int want)
{
    double *column =
        s->setup.deterministic ? ARRAY(s, ARRAY_COLUMNS, double) : NULL;
    auto kernel =
        want ? kernel_of<add_outer<1>, 1>() : kernel_of<add_outer<0>, 1>();
    TRY(cuda_run(s, "add_outer", kernel, cuda_own_blocks(s), s->view,
                 on_card(s, o), 1 / s->setup.acceleration,
                 ARRAY(s, ARRAY_PARTIAL, double), column));
    tally_own(s, 3 * (sizeof(state) + sizeof(int32_t) + 2 * sizeof(scalar)) +
                     sizeof(int64_t) + sizeof(int32_t));
    return 0;
}

int cuda_launch_outer(struct md_store *s, const struct step_call *c)
{
    int want = c->kick > 0;
    TRY(launch(s, (const struct md_outer *)c->buffer, want));
    return want ? cuda_send_own_sums(s, OUTER_VALUES, s->result->outer) : 0;
}

void cuda_outer_add(const double *out, struct md_sums *sums,
                    double on_wall[MD_FACES])
{
    sums->energy += out[0] + out[1];
    sums->part[MD_ENERGY_WALL] += out[0];
    sums->part[MD_ENERGY_FIELD] += out[1];
    for (int f = 0; f < MD_FACES; f++)
        on_wall[f] += out[2 + f];
}

static int forces_and_sums(struct md_store *s, const struct md_outer *o,
                           struct md_sums *sums, double on_wall[MD_FACES])
{
    double out[OUTER_VALUES];
    TRY(cuda_reserve_sums(s));
    TRY(launch(s, o, 1));
    TRY(cuda_own_sums(s, OUTER_VALUES, out));
    cuda_outer_add(out, sums, on_wall);
    return 0;
}

void cuda_outer_forces(struct md_store *s, const struct md_outer *o,
                       struct md_sums *sums, double on_wall[MD_FACES])
{
    if (s->view.n_own == 0)
        return;
    s->failed = cuda_outer_ready(s, o);
    if (!sums || s->owed) { /* with those of pairs */
        s->owed_to_walls = sums ? on_wall : NULL;
        cuda_do(s, {STEP_OUTER, sums ? 1.0 : 0.0, 0, o});
        return;
    }
    cuda_settle(s);
    if (s->failed == 0)
        s->failed = forces_and_sums(s, o, sums, on_wall);
}

/* ---- walls that particles went through ---- */

/* Whether a wall acts on this species that no particle can reach. */
static __device__ int is_closed(const struct md_outer &o, int species, int face)
{
    for (int k = 0; k < o.n_walls; k++)
        if (o.walls[k].style == MD_WALL_LJ93 && o.walls[k].face == face &&
            o.walls[k].acts[species])
            return 1;
    return 0;
}

/* As mirror() of outer_cpu.c: 0 where the particle cannot be there. */
static __device__ int mirror(const struct md_view &m, const struct md_outer &o,
                             uint32_t i, int d)
{
    size_t k = d * m.stride + i;
    double lo = o.lo[d], hi = o.hi[d];
    double from = (double)m.x[k] + m.state_origin[d];
    int upper = from >= hi;
    double to = upper ? 2 * hi - from : 2 * lo - from;
    if (o.closed || is_closed(o, m.species[i], 2 * d + upper) || to < lo ||
        to > hi)
        return 0;
    m.x[k] = (state)(to - m.state_origin[d]);
    if ((double)m.x[k] + m.state_origin[d] >= hi) /* it stood on the face */
        m.x[k] = (state)(hi - (hi - lo) * 1e-7 - m.state_origin[d]);
    to = (double)m.x[k] + m.state_origin[d];
    if (to < lo)
        m.x[k] = (state)(lo + (hi - lo) * 1e-7 - m.state_origin[d]);
    m.v[k] = -m.v[k];
    m.moved[k] += (float)(to - from);
    set_pair(m, i);
    return 1;
}

static __device__ __forceinline__ void reflect(const struct md_view &m,
                                               const struct md_outer &o,
                                               unsigned long long *lost)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    for (int d = 0; d < 3; d++) {
        double x = (double)m.x[d * m.stride + i] + m.state_origin[d];
        if (o.walled[d] && (x < o.lo[d] || x >= o.hi[d]) && !mirror(m, o, i, d))
            atomicMax(lost, (unsigned long long)m.id[i]);
    }
}

/* The place of the one that is lost: nobody, so far. */
static int reserve_lost(struct md_store *s)
{
    size_t bytes = sizeof(unsigned long long);
    if (s->array[ARRAY_LOST].bytes > 0)
        return 0;
    TRY(cuda_reserve(s, ARRAY_LOST, 1, bytes, "counters"));
    CUDA_TRY(s->ctx, cudaMemsetAsync(s->array[ARRAY_LOST].p, 0, bytes,
                                     s->device->stream));
    return 0;
}

int cuda_launch_reflect(struct md_store *s, const struct md_outer *o)
{
    unsigned long long *lost = ARRAY(s, ARRAY_LOST, unsigned long long);
    TRY(cuda_run(s, "reflect", kernel_of<reflect, 1>(), cuda_own_blocks(s),
                 s->view, on_card(s, o), lost));
    tally_own(s, 3 * sizeof(state));
    return cuda_send(s, &s->result->lost, lost, sizeof *lost);
}

static void do_reflect(struct md_store *s, const struct md_outer *o)
{
    s->failed = cuda_outer_ready(s, o);
    if (s->failed == 0)
        s->failed = reserve_lost(s);
    cuda_do(s, {STEP_REFLECT, 0, 0, o});
}

void cuda_reflect_ahead(struct md_store *s, const struct md_outer *o)
{
    cuda_ask_ahead(s, &s->lost_asked, [=] { do_reflect(s, o); });
}

int64_t cuda_reflect(struct md_store *s, const struct md_outer *o)
{
    if (s->view.n_own == 0)
        return 0;
    cuda_ask(s, &s->lost_asked, [=] { do_reflect(s, o); });
    if (s->failed == 0)
        s->failed = cuda_wait_for_result(s);
    return s->failed == 0 ? (int64_t)s->result->lost : 0;
}

/* ---- groups that are held ---- */

static __device__ __forceinline__ void hold(const struct md_view &m,
                                            const struct md_outer &o)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    const double *v = md_held_of(o.groups, o.n_groups, m.id[i], m.species[i]);
    for (int d = 0; d < 3 && v; d++)
        m.v[d * m.stride + i] = (state)v[d];
}

int cuda_launch_hold(struct md_store *s)
{
    tally_own(s, 3 * sizeof(state) + sizeof(int64_t) + sizeof(int32_t));
    return cuda_run(s, "hold", kernel_of<hold, 1>(), cuda_own_blocks(s),
                    s->view, on_card(s, s->setup.outer));
}

void cuda_hold(struct md_store *s)
{
    if (s->view.n_own > 0)
        cuda_do(s, {STEP_HOLD, 0, 0, NULL});
}
