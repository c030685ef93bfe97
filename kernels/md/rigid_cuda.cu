/* rigid_cuda.cu: groups of particles at fixed distances, one thread a group.
 * See rigid.h.
 *
 * As on the CPU a group is solved on each rank that owns one of its particles,
 * and moves only those; what is not own comes as values of copies, in doubles
 * and as its owner has it. What is kept of a group stands in columns, one
 * element a group.
 */
#include "kernels/md/rigid_cuda.h"
#include "kernels/md/team_cuda.h"
#include "kernels/md/term_errors.h"

struct rigid_view cuda_rigid_view(const struct md_store *s)
{
    struct rigid_view r;
    r.n = (uint32_t)s->terms->n_groups;
    r.begin = r.end = r.n_blocks = r.first_block = 0;
    for (int kind = 0; kind < RIGID_KINDS; kind++) {
        const uint32_t *first = s->terms->first_group + kind;
        if (first[1] > first[0])
            r.n_blocks += cuda_blocks(first[1] - first[0], MD_THREADS);
    }
    r.group = ARRAY(s, ARRAY_RIGID_GROUP, struct card_group);
    r.shape = ARRAY(s, ARRAY_RIGID_SHAPE, struct rigid_shape);
    r.held = ARRAY(s, ARRAY_RIGID_HELD, double);
    r.speed2 = ARRAY(s, ARRAY_RIGID_SPEED, double);
    r.value = ARRAY(s, ARRAY_HALO_VALUE, double);
    r.inverse_mass = ARRAY(s, ARRAY_RIGID_MASS, double);
    for (int d = 0; d < 3; d++) {
        r.box_length[d] = s->setup.box_length[d];
        r.per_length[d] = 1 / s->setup.box_length[d];
        r.tilt[d] = s->setup.tilt[d];
    }
    return r;
}

/* That a pass over the groups moves: of three particles, about, three numbers
 * of each of so many columns, and what is kept. */
static double bytes_of_groups(const struct md_store *s, int columns)
{
    return (double)s->terms->n_groups *
           (sizeof(struct card_group) + (9.0 * columns + 9) * sizeof(state));
}

size_t cuda_shapes_bytes(const struct md_store *s)
{
    size_t shapes = (size_t)s->terms->n_shapes * sizeof(struct rigid_shape);
    return shapes + (size_t)s->setup.n_species * sizeof(double) + 64;
}

/* How many bonds and particles beside the first ones there are, and room for
 * what is kept of each group. */
static int ready_groups(struct md_store *s, const struct rigid_shape *shapes)
{
    struct card_terms *t = s->terms;
    for (size_t i = 0; i < t->n_groups; i++) {
        const struct rigid_shape *shape = &shapes[t->group[i].shape];
        if (!(t->group[i].own & 1))
            continue;
        t->n_rigid += shape->n;
        t->n_joined += shape->particles - 1;
    }
    TRY(cuda_reserve(s, ARRAY_RIGID_HELD, 3 * RIGID_PARTICLES * t->n_groups,
                     sizeof(double), "rigid bonds"));
    TRY(cuda_reserve(s, ARRAY_RIGID_SPEED, RIGID_BONDS * t->n_groups,
                     sizeof(double), "rigid bonds"));
    TRY(cuda_reserve_sums(s));
    TRY(cuda_reserve(s, ARRAY_PARTIAL,
                     (size_t)cuda_rigid_view(s).n_blocks * GROUP_SUMS,
                     sizeof(double), "sums"));
    return cuda_reserve(s, ARRAY_HALO_VALUE, 3 * (size_t)s->view.n_halo + 3,
                        sizeof(double), "rigid bonds");
}

int cuda_set_shapes(struct md_store *s)
{
    struct card_terms *t = s->terms;
    struct rigid_shape fresh[SHAPES_MAX];
    double inverse[MD_SPECIES_MAX];
    size_t species = (size_t)s->setup.n_species;
    t->n_rigid = t->n_joined = 0;
    if (t->n_groups == 0)
        return 0;
    for (int k = 0; k < t->n_shapes; k++)
        rigid_shape_of(&t->field, t->shape[k][0], t->shape[k][1], &fresh[k]);
    for (size_t k = 0; k < species; k++)
        inverse[k] = 1 / s->setup.mass[k];
    TRY(cuda_stage_terms(s, ARRAY_RIGID_SHAPE, fresh,
                         (size_t)t->n_shapes * sizeof *fresh));
    TRY(cuda_stage_terms(s, ARRAY_RIGID_MASS, inverse,
                         species * sizeof *inverse));
    return ready_groups(s, fresh);
}

double cuda_rigid_count(const struct md_store *s, double *joined)
{
    *joined = s->terms ? s->terms->n_joined : 0;
    return s->terms ? s->terms->n_rigid : 0;
}

/* ---- values of copies ---- */

static __global__ void pack_values(struct md_view m, const uint32_t *slot,
                                   uint32_t n, int what, double *out)
{
    uint32_t k = thread_index();
    if (k >= n)
        return;
    for (int d = 0; d < 3; d++)
        out[3 * (size_t)k + d] = value_of(m, what, slot[k], d);
}

/* As pack_halo() does: the buffer is the device's memory for messages. */
static int pack_and_copy(struct md_store *s, enum md_value what, void *buffer)
{
    int direct = s->ctx->device->direct;
    size_t bytes = 3 * sizeof(double) * s->n_send;
    TRY(cuda_reserve(s, ARRAY_PACKED, bytes, 1, "halo copies"));
    void *packed = direct ? buffer : s->array[ARRAY_PACKED].p;
    LAUNCH(pack_values, cuda_blocks(s->n_send, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, ARRAY(s, ARRAY_SEND_SLOT, uint32_t),
           s->n_send, (int)what, (double *)packed);
    CUDA_TRY_LAUNCH(s->ctx, "pack_values");
    if (direct)
        return 0;
    CUDA_TRY(s->ctx,
             cudaMemcpyAsync(buffer, packed, bytes, cudaMemcpyDeviceToHost,
                             s->device->stream));
    s->device->bytes_to_host += bytes;
    return 0;
}

void cuda_pack_values(const struct md_store *store, enum md_value what,
                      double (*out)[3])
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    cuda_settle(s);
    if (s->n_send > 0 && s->failed == 0)
        s->failed = pack_and_copy(s, what, out);
    /* Also where nothing is sent: see cuda_pack_halo(). */
    if (s->failed == 0)
        s->failed =
            cuda_status(s->ctx, cudaStreamSynchronize(s->device->stream),
                        "cudaStreamSynchronize");
}

static __global__ void unpack_values(struct md_view m, const uint32_t *slot,
                                     const double *from, double *value)
{
    uint32_t k = thread_index();
    if (k >= m.n_halo)
        return;
    for (int d = 0; d < 3; d++)
        value[3 * (size_t)(slot[k] - m.n_own) + d] = from[3 * (size_t)k + d];
}

static int unpack(struct md_store *s, const void *buffer)
{
    const double *from = NULL;
    TRY(cuda_message_on_card(s, buffer,
                             3 * sizeof *from * (size_t)s->view.n_halo,
                             (const void **)&from));
    LAUNCH(unpack_values, cuda_blocks(s->view.n_halo, MD_THREADS), MD_THREADS,
           0, s->device->stream, s->view, ARRAY(s, ARRAY_HALO_SLOT, uint32_t),
           from, ARRAY(s, ARRAY_HALO_VALUE, double));
    CUDA_TRY_LAUNCH(s->ctx, "unpack_values");
    return 0;
}

void cuda_unpack_values(struct md_store *s, const double (*in)[3])
{
    cuda_settle(s);
    if ((has_groups(s) || s->dynamics) && s->view.n_halo > 0 && s->failed == 0)
        s->failed = unpack(s, in);
}

/* ---- positions ---- */

template <int KIND>
static __device__ __forceinline__ void hold_groups(const struct md_view &m,
                                                   const struct rigid_view &r)
{
    uint32_t i = r.begin + thread_index();
    double x[RIGID_PARTICLES][3];
    struct group g;
    if (i >= r.end)
        return;
    take_group<KIND>(m, r, i, &g);
    values_of(m, r, &g, MD_VALUE_POSITION, x);
    keep_held(r, i, g.shape.particles, (const double(*)[3])x);
}

template <int KIND> static constexpr auto hold_kernel(void)
{
    return kernel_of<hold_groups<KIND>, 1>();
}

int cuda_launch_rigid_hold(struct md_store *s)
{
    static const decltype(hold_kernel<MD_TERM_RIGID_BOND>())
        kernels[RIGID_KINDS] = KERNELS_OF_KINDS(hold_kernel);
    return for_each_kind(s, [&](int kind, const struct rigid_view &r,
                                dim3 blocks) {
        return cuda_run(s, "hold_groups", kernels[kind], blocks, s->view, r);
    });
}

void cuda_rigid_hold(struct md_store *s)
{
    do_rigid(s, {STEP_RIGID_HOLD, 0, 0, NULL});
}

/* Returns the square of the longest way of its own particles, -1 where the
 * group has no solution. */
template <int KIND>
static __device__ __forceinline__ double
place_group(const struct md_view &m, const struct rigid_view &r, uint32_t i,
            double per_time, double tolerance)
{
    double now[RIGID_PARTICLES][3], x[RIGID_PARTICLES][3];
    double to[RIGID_PARTICLES][3], held[RIGID_PARTICLES][3], moved2 = 0;
    struct group g;
    take_group<KIND>(m, r, i, &g);
    int n = g.shape.particles;
    values_of(m, r, &g, MD_VALUE_POSITION, now);
    take_held(r, i, n, held);
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < n; k++) {
        for (int d = 0; d < 3; d++)
            x[k][d] = now[k][d] - now[0][d];
        nearest_way(r, x[k]);
        for (int d = 0; d < 3; d++)
            to[k][d] = x[k][d];
    }
    if (rigid_place(&g.shape, (const double(*)[3])held, tolerance, to) != 0)
        return -1;
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < n; k++) {
        double way[3];
        for (int d = 0; d < 3; d++) {
            way[d] = to[k][d] - x[k][d];
            now[k][d] += way[d];
        }
        if (g.own >> k & 1)
            moved2 = fmax(moved2, move_by(m, g.slot[k], way, per_time));
    }
    keep_held(r, i, n, (const double(*)[3])now);
    return moved2;
}

/* Two columns of partial: the greatest square of a way, and 1 + some group that
 * was torn apart. */
template <int KIND>
static __device__ __forceinline__ void
place_groups(const struct md_view &m, const struct rigid_view &r,
             double per_time, double tolerance, double *partial)
{
    __shared__ double shared[2][MD_THREADS / 32];
    uint32_t i = r.begin + thread_index();
    double way2 = 0, torn = 0;
    if (i < r.end)
        way2 = place_group<KIND>(m, r, i, per_time, tolerance);
    if (way2 < 0)
        torn = (double)i + 1;
    way2 = block_max(way2, shared[0]);
    torn = block_max(torn, shared[1]);
    if (threadIdx.x == 0) {
        uint32_t block = r.first_block + blockIdx.x;
        partial[block] = way2;
        partial[r.n_blocks + block] = torn;
    }
}

template <int KIND> static constexpr auto place_kernel(void)
{
    return kernel_of<place_groups<KIND>, 1, 2>();
}

int cuda_launch_rigid_place(struct md_store *s, double per_time,
                            double tolerance)
{
    static const decltype(place_kernel<MD_TERM_RIGID_BOND>())
        kernels[RIGID_KINDS] = KERNELS_OF_KINDS(place_kernel);
    TRY(for_each_kind(s, [&](int kind, const struct rigid_view &r,
                             dim3 blocks) {
        return cuda_run(s, "place_groups", kernels[kind], blocks, s->view, r,
                        per_time, tolerance, ARRAY(s, ARRAY_PARTIAL, double));
    }));
    s->tally.bytes += bytes_of_groups(s, 3);
    return cuda_reduce_and_send(s, 2, cuda_rigid_view(s).n_blocks, 1,
                                s->result->placed);
}

void cuda_rigid_place_ahead(struct md_store *s, double per_time,
                            double tolerance)
{
    if (!has_groups(s))
        return;
    cuda_ask_ahead(s, &s->placed_asked, [=] {
        cuda_do(s, {STEP_RIGID_PLACE, per_time, tolerance, NULL});
    });
}

int cuda_rigid_place(struct ctx *ctx, struct md_store *s, double per_time,
                     double tolerance, double *moved2)
{
    const double *greatest = s->result->placed;
    if (!s->placed_asked)
        cuda_settle(s);
    if (!has_groups(s))
        return s->failed;
    TRY(cuda_reserve_sums(s));
    cuda_ask(s, &s->placed_asked, [=] {
        cuda_do(s, {STEP_RIGID_PLACE, per_time, tolerance, NULL});
    });
    TRY(s->failed);
    TRY(cuda_wait_for_result(s));
    if (greatest[0] > *moved2) /* what is not finite stays so */
        *moved2 = greatest[0];
    if (!(greatest[1] > 0))
        return 0;
    const struct card_group *g = &s->terms->group[(size_t)greatest[1] - 1];
    return fail_torn(ctx, s->terms->id[g->slot[0]]);
}

/* ---- velocities ---- */

template <int KIND>
static __device__ __forceinline__ void
stop_groups(const struct md_view &m, const struct rigid_view &r, int apply)
{
    uint32_t i = r.begin + thread_index();
    double v[RIGID_PARTICLES][3], held[RIGID_PARTICLES][3];
    double bond[RIGID_BONDS][3], rate[RIGID_BONDS], u[3];
    struct group g;
    if (i >= r.end)
        return;
    take_group<KIND>(m, r, i, &g);
    values_of(m, r, &g, MD_VALUE_VELOCITY, v);
    take_held(r, i, g.shape.particles, held);
    bonds_of(&g, (const double(*)[3])held, bond);
    RIGID_UNROLL
    for (int k = 0; k < RIGID_BONDS && k < g.shape.n; k++) {
        rigid_bond(&g.shape, k, (const double(*)[3])v, u);
        rate[k] = rigid_dot(bond[k], u);
    }
    rigid_impulses(&g.shape, (const double(*)[3])bond, rate);
    rigid_push(&g.shape, (const double(*)[3])bond, rate, v);
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < g.shape.particles && apply; k++)
        for (int d = 0; d < 3 && g.own >> k & 1; d++)
            m.v[d * m.stride + g.slot[k]] = (state)v[k][d];
    RIGID_UNROLL
    for (int k = 0; k < RIGID_BONDS && k < g.shape.n; k++) {
        rigid_bond(&g.shape, k, (const double(*)[3])v, u);
        r.speed2[(size_t)k * r.n + i] = rigid_dot(u, u);
    }
}

template <int KIND> static constexpr auto stop_kernel(void)
{
    return kernel_of<stop_groups<KIND>, 1>();
}

int cuda_launch_rigid_stop(struct md_store *s, int apply)
{
    static const decltype(stop_kernel<MD_TERM_RIGID_BOND>())
        kernels[RIGID_KINDS] = KERNELS_OF_KINDS(stop_kernel);
    s->tally.bytes += bytes_of_groups(s, 2);
    return for_each_kind(
        s, [&](int kind, const struct rigid_view &r, dim3 blocks) {
            return cuda_run(s, "stop_groups", kernels[kind], blocks, s->view, r,
                            apply);
        });
}

void cuda_rigid_stop(struct md_store *s, int apply)
{
    do_rigid(s, {STEP_RIGID_STOP, apply ? 1.0 : 0.0, 0, NULL});
}
