/* copies_cuda.cu: copies of this rank's own particles, made on the card.
 *
 * In a tilted box that one rank has, all copies stand beyond the faces of the
 * same rank's block, and nothing has to travel. Which images of the box are
 * within reach is all that the host says; where they are follows from the box
 * that kernels get, so that one that changes asks for nothing either.
 */
#include "kernels/md/box_cuda.h"
#include "kernels/md/dynamics_cuda.h"
#include "kernels/md/rigid_cuda.h"
#include "kernels/md/team_cuda.h"
#include "kernels/primitives.h"

#include <stdlib.h>

/* ---- which ---- */

/* Images of the box, three numbers each; copies go to all but number 0, which
 * is not among them. */
#define box_images MD_NAME(box_images)
struct box_images {
    const int32_t *n;
    int count;
    double reach2;
};

/* What is added to a position for its copy; see grid_image() and halo.c. */
static __device__ __forceinline__ void
shift_of(const struct md_view &m, const int32_t *n, double shift[3])
{
    shift[0] = -n[0] * m.box_length[0] - (n[1] * m.tilt[0] + n[2] * m.tilt[1]);
    shift[1] = -n[1] * m.box_length[1] - n[2] * m.tilt[2];
    shift[2] = -n[2] * m.box_length[2];
}

/* Whether the copy of particle i is within reach of the block. */
static __device__ __forceinline__ int
reaches(const struct md_view &m, const struct box_images &b, int k, uint32_t i)
{
    double shift[3], sum = 0;
    shift_of(m, b.n + 3 * k, shift);
    for (int d = 0; d < 3; d++) {
        double x = (double)m.x[d * m.stride + i] + m.state_origin[d] + shift[d];
        double g = fmax(fmax(m.lo[d] - x, x - m.hi[d]), 0.0);
        sum += g * g;
    }
    return sum < b.reach2;
}

static __device__ __forceinline__ void count_copies(const struct md_view &m,
                                                    const struct box_images &b,
                                                    uint32_t *count,
                                                    unsigned *total)
{
    uint32_t i = thread_index(), sum = 0;
    if (i >= m.n_own)
        return;
    for (int k = 0; k < b.count; k++)
        sum += (uint32_t)reaches(m, b, k, i);
    count[i] = sum;
    if (sum > 0)
        atomicAdd(total, sum);
}

/* place - below: the sum of the counts before. */
static __device__ __forceinline__ void
choose_copies(const struct md_view &m, const struct box_images &b,
              const uint32_t *place, uint32_t below, uint32_t *slot,
              uint32_t *image_of)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    uint32_t at = place[i] - below;
    for (int k = 0; k < b.count; k++) {
        if (!reaches(m, b, k, i))
            continue;
        slot[at] = i;
        image_of[at++] = (uint32_t)k;
    }
}

/* ---- where ---- */

/* In pair coordinates. */
static __device__ __forceinline__ void place_of_copy(const struct md_view &m,
                                                     uint32_t i,
                                                     const int32_t *n,
                                                     scalar x[3])
{
    double shift[3];
    shift_of(m, n, shift);
    for (int d = 0; d < 3; d++)
        x[d] = (scalar)((double)m.x[d * m.stride + i] +
                        (shift[d] + m.state_origin[d] - m.origin[d]));
}

static __device__ __forceinline__ void record_copies(const struct md_view &m,
                                                     const uint32_t *slot,
                                                     const uint32_t *image_of,
                                                     const int32_t *image,
                                                     struct halo_record *to)
{
    uint32_t k = thread_index();
    if (k >= m.n_halo)
        return;
    uint32_t i = slot[k];
    struct halo_record r;
    place_of_copy(m, i, image + 3 * image_of[k], r.x);
    r.id = m.id[i];
    r.species = m.species[i];
    r.charge = (scalar)charge_of(m, i);
    to[k] = r;
}

static __device__ __forceinline__ void
move_copies(const struct md_view &m, const uint32_t *slot,
            const uint32_t *image_of, const int32_t *image, const uint32_t *to)
{
    uint32_t k = thread_index();
    if (k >= m.n_halo)
        return;
    scalar x[3];
    place_of_copy(m, slot[k], image + 3 * image_of[k], x);
    struct pair_position *p = &m.pair[to[k]];
    p->x = x[0];
    p->y = x[1];
    p->z = x[2];
}

static __device__ __forceinline__ void
copy_slopes(scalar *slope, const uint32_t *slot, const uint32_t *to, uint32_t n)
{
    uint32_t k = thread_index();
    if (k < n)
        slope[to[k]] = slope[slot[k]];
}

static __device__ __forceinline__ void copy_values(const struct md_view &m,
                                                   const uint32_t *slot,
                                                   const uint32_t *to, int what,
                                                   double *value)
{
    uint32_t k = thread_index();
    if (k >= m.n_halo)
        return;
    for (int d = 0; d < 3; d++)
        value[3 * (size_t)(to[k] - m.n_own) + d] =
            value_of(m, what, slot[k], d);
}

/* ---- launches ---- */

static struct box_images images_of(const struct md_store *s)
{
    struct box_images b;
    /* A little more, so that rounding loses nobody. */
    double reach = s->setup.halo_radius * (1 + 1e-6);
    b.n = ARRAY(s, ARRAY_COPY_IMAGES, int32_t);
    b.count = s->n_images;
    b.reach2 = reach * reach;
    return b;
}

int cuda_count_copies(struct md_store *s, uint32_t *count)
{
    unsigned *total = ARRAY(s, ARRAY_COUNTER, unsigned);
    TRY(cuda_run(s, "clear_number", kernel_of<clear_number, 1>(), dim3(1),
                 total));
    TRY(cuda_run(s, "count_copies", kernel_of<count_copies, 1>(),
                 cuda_own_blocks(s), s->view, images_of(s), count, total));
    return cuda_send(s, &s->result->copies, total, sizeof s->result->copies);
}

static int reserve_copies(struct md_store *s, size_t n)
{
    if (s->view.n_own + n >= UINT32_MAX / 2)
        return FAIL(s->ctx, STATUS_UNSUPPORTED,
                    "too many halo copies; use more ranks");
    TRY(cuda_reserve(s, ARRAY_SEND_SLOT, n, sizeof(uint32_t), "halo copies"));
    TRY(cuda_reserve(s, ARRAY_SEND_CHANNEL, n, sizeof(uint32_t),
                     "halo copies"));
    if (s->dynamics)
        TRY(cuda_reserve(s, ARRAY_HALO_VALUE, 3 * n + 3, sizeof(double),
                         "halo copies"));
    return cuda_reserve_halo(s, n);
}

int cuda_ready_copies(struct md_store *s)
{
    TRY(reserve_copies(s, s->result->copies));
    s->view.n_halo = s->result->copies;
    return 0;
}

int cuda_launch_copies(struct md_store *s, const uint32_t *place,
                       uint32_t below)
{
    uint32_t *slot = ARRAY(s, ARRAY_SEND_SLOT, uint32_t);
    uint32_t *image_of = ARRAY(s, ARRAY_SEND_CHANNEL, uint32_t);
    TRY(cuda_run(s, "choose_copies", kernel_of<choose_copies, 1>(),
                 cuda_own_blocks(s), s->view, images_of(s), place, below, slot,
                 image_of));
    return cuda_run(
        s, "record_copies", kernel_of<record_copies, JOINS_LOOSELY>(),
        cuda_copy_blocks(s), s->view, (const uint32_t *)slot,
        (const uint32_t *)image_of, ARRAY(s, ARRAY_COPY_IMAGES, const int32_t),
        ARRAY(s, ARRAY_RECORDS, struct halo_record));
}

int cuda_launch_choose(struct md_store *s)
{
    uint32_t *count = ARRAY(s, ARRAY_KEY, uint32_t);
    TRY(cuda_count_copies(s, count));
    TRY(cuda_wait_for_result(s));
    TRY(cuda_ready_copies(s));
    if (s->view.n_halo == 0)
        return 0;
    count = ARRAY(s, ARRAY_KEY, uint32_t); /* it may have grown */
    uint32_t *place = ARRAY(s, ARRAY_KEY_OUT, uint32_t);
    CUDA_TRY(s->ctx,
             primitives_exclusive_sum_u32(
                 s->array[ARRAY_WORKSPACE].p, s->array[ARRAY_WORKSPACE].bytes,
                 count, place, s->view.n_own, s->device->stream));
    TRY(cuda_launch_copies(s, place, 0));
    return cuda_place_copies(s, ARRAY(s, ARRAY_RECORDS, struct halo_record));
}

int cuda_launch_move_copies(struct md_store *s)
{
    return cuda_run(s, "move_copies", kernel_of<move_copies, JOINS_LOOSELY>(),
                    cuda_copy_blocks(s), s->view,
                    ARRAY(s, ARRAY_SEND_SLOT, const uint32_t),
                    ARRAY(s, ARRAY_SEND_CHANNEL, const uint32_t),
                    ARRAY(s, ARRAY_COPY_IMAGES, const int32_t),
                    ARRAY(s, ARRAY_HALO_SLOT, const uint32_t));
}

int cuda_launch_copy_slopes(struct md_store *s)
{
    return cuda_run(s, "copy_slopes", kernel_of<copy_slopes, JOINS_LOOSELY>(),
                    cuda_copy_blocks(s), ARRAY(s, ARRAY_EAM_SLOPE, scalar),
                    ARRAY(s, ARRAY_SEND_SLOT, const uint32_t),
                    ARRAY(s, ARRAY_HALO_SLOT, const uint32_t), s->view.n_halo);
}

int cuda_launch_copy_values(struct md_store *s, int what)
{
    return cuda_run(s, "copy_values", kernel_of<copy_values, JOINS_LOOSELY>(),
                    cuda_copy_blocks(s), s->view,
                    ARRAY(s, ARRAY_SEND_SLOT, const uint32_t),
                    ARRAY(s, ARRAY_HALO_SLOT, const uint32_t), what,
                    ARRAY(s, ARRAY_HALO_VALUE, double));
}

/* ---- the verbs ---- */

static int same_images(const struct md_store *s, int n,
                       const struct md_channel *channels)
{
    int same = s->n_images == n;
    for (int k = 0; k < n && same; k++)
        for (int d = 0; d < 3; d++)
            same = same && s->image[k][d] == channels[k].image[d];
    return same;
}

/* The card has them as long as they stay the same. */
static int send_images(struct md_store *s, int n,
                       const struct md_channel *channels)
{
    if (same_images(s, n, channels))
        return 0;
    cuda_settle(s);
    free(s->image);
    s->n_images = 0;
    s->image = (int32_t(*)[3])malloc((size_t)n * sizeof *s->image);
    if (!s->image)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for %d channels", n);
    for (int k = 0; k < n; k++)
        for (int d = 0; d < 3; d++)
            s->image[k][d] = channels[k].image[d];
    s->n_images = n;
    TRY(cuda_reserve(s, ARRAY_COPY_IMAGES, (size_t)n, sizeof *s->image,
                     "halo copies"));
    return cuda_to_device(s->ctx, s->device, s->array[ARRAY_COPY_IMAGES].p,
                          s->image, (size_t)n * sizeof *s->image);
}

int cuda_copy_own(struct ctx *ctx, struct md_store *s, int n_channels,
                  const struct md_channel *channels)
{
    int waits = cuda_keeps_all(s);
    size_t n = s->view.n_own > 0 ? s->view.n_own : 1;
    (void)ctx; /* the store's */
    if (!waits)
        cuda_settle(s);
    TRY(send_images(s, n_channels, channels));
    s->copies_here = 1;
    s->n_channels = 0;
    s->n_send = 0;
    TRY(cuda_reserve(s, ARRAY_KEY, n, sizeof(uint32_t), "halo copies"));
    TRY(cuda_reserve(s, ARRAY_KEY_OUT, n, sizeof(uint32_t), "halo copies"));
    TRY(cuda_reserve(s, ARRAY_WORKSPACE, primitives_workspace(n), 1,
                     "halo copies"));
    TRY(cuda_reserve(s, ARRAY_COUNTER, 64, sizeof(unsigned), "counters"));
    if (waits) {
        cuda_do(s, {STEP_CHOOSE, 0, 0, NULL});
        return s->failed;
    }
    s->view.n_halo = 0;
    return s->view.n_own > 0 ? cuda_launch_choose(s) : 0;
}

void cuda_move_copies(struct md_store *s)
{
    if (s->view.n_own > 0)
        cuda_do(s, {STEP_MOVE_COPIES, 0, 0, NULL});
}

void cuda_copy_extra(struct md_store *s)
{
    if (s->view.n_own > 0)
        cuda_do(s, {STEP_COPY_SLOPES, 0, 0, NULL});
}

void cuda_copy_values(struct md_store *s, enum md_value what)
{
    /* Of rigid groups all particles are own. */
    if (s->dynamics && s->dynamics->in_pairs && s->view.n_own > 0)
        cuda_do_in_team(s, {STEP_COPY_VALUES, (double)what, 0, NULL});
}
