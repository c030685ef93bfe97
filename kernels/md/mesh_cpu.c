/* mesh_cpu.c: charges of own particles onto a mesh, and its field back.
 *
 * A particle touches order^2 rows of the mesh, each with one vector of weights
 * that are 0 behind the last. The mesh is in double precision always: it is
 * small, and sums of many particles meet in it.
 */
#include "kernels/md/mesh_cpu.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "kernels/md/bspline.h"

enum { ROW = MD_MESH_PADDING };
_Static_assert(ROW == 8, "sum_of() adds eight");

/* A piece of a row of the mesh; it may stand anywhere. */
typedef double mesh_row
    __attribute__((vector_size(ROW * sizeof(double)), aligned(8)));

/* The field at a point: x, y, z and a number that nobody looks at. */
typedef scalar mesh_point
    __attribute__((vector_size(4 * sizeof(scalar)), aligned(sizeof(scalar))));

/* As many points of a row as one vector holds. */
enum { ABREAST = LANES > 4 ? LANES / 4 : 1 };
typedef scalar mesh_points __attribute__((
    vector_size(ABREAST * 4 * sizeof(scalar)), aligned(sizeof(scalar))));

/* The particles of one cluster: their lowest points, as seen from the brick's
 * first, and weights. */
struct spots {
    int64_t at[3][LANES];
    double weight[3][ROW][LANES];
};

/* Ways from the corner of a tilted box to those in the brick of its lengths
 * that are the same parts of them. */
static void stand_up(const struct md_brick *b, double u[3][LANES])
{
    const double xy = b->tilt[0] / b->box_length[1],
                 xz = b->tilt[1] / b->box_length[2],
                 yz = b->tilt[2] / b->box_length[2];
    for (int l = 0; l < LANES; l++) {
        u[1][l] -= yz * u[2][l];
        u[0][l] -= xy * u[1][l] + xz * u[2][l];
    }
}

KERNEL_FN void find_spots(const struct md_store *s, const struct md_brick *b,
                          const int order, size_t cluster, struct spots *out)
{
    const double far = 1e9;
    double way[3][LANES];
    for (int d = 0; d < 3; d++) {
        const state *x = s->x + CLUSTER(cluster) + (size_t)(d * LANES);
        const double origin = b->box_lo[d] - s->state_origin[d];
        for (int l = 0; l < LANES; l++)
            way[d][l] = (double)x[l] - origin;
    }
    if (b->tilted)
        stand_up(b, way);
    for (int d = 0; d < 3; d++) {
        const double per_length = (double)b->cells[d] / b->box_length[d];
        /* half the spline's width, and the brick's first point */
        const double less = 0.5 * order - 1 + (double)b->first[d];
        double w[LANES];
        for (int l = 0; l < LANES; l++) {
            double u = way[d][l] * per_length - less;
            /* padding stands far away; nobody looks at it */
            u = u > -far ? u : -far;
            u = u < far ? u : far;
            double low = floor(u);
            w[l] = u - low;
            out->at[d][l] = (int64_t)low;
        }
        bspline_weights(order, LANES, w, &out->weight[d][0][0]);
    }
}

/* The weights of one lane along x, in order, then zeros. */
KERNEL_FN mesh_row row_of(const struct spots *p, const int order, int lane,
                          double factor)
{
    mesh_row row = {0};
    KERNEL_UNROLL for (int k = 0; k < order; k++) row[k] =
        p->weight[0][k][lane] * factor;
    return row;
}

KERNEL_FN int is_inside(const struct md_brick *b, const int order,
                        const struct spots *p, int lane)
{
    for (int d = 0; d < 3; d++)
        if (p->at[d][lane] < 0 || p->at[d][lane] + order > b->n[d])
            return 0;
    return 1;
}

KERNEL_FN int64_t first_of(const struct md_brick *b, const struct spots *p,
                           int lane)
{
    return (p->at[2][lane] * b->n[1] + p->at[1][lane]) * b->pitch +
           p->at[0][lane];
}

/* Returns a slot that lies outside of the brick, or SIZE_MAX. */
KERNEL_FN size_t spread_some(const struct md_store *s, const struct md_brick *b,
                             const int order, size_t first, size_t last,
                             double *mesh)
{
    struct spots p;
    size_t lost = SIZE_MAX;
    for (size_t c = first; c < last; c++) {
        find_spots(s, b, order, c, &p);
        for (int l = 0; l < LANES; l++) {
            size_t slot = c * (size_t)LANES + (size_t)l;
            double q = (double)s->charge[slot];
            if (s->id[slot] == 0 || !(fabs(q) > 0))
                continue;
            if (!is_inside(b, order, &p, l)) {
                lost = slot;
                continue;
            }
            const mesh_row wx = row_of(&p, order, l, q);
            double *plane = mesh + first_of(b, &p, l);
            for (int k = 0; k < order; k++) {
                double *at = plane;
                const double wz = p.weight[2][k][l];
                KERNEL_UNROLL for (int j = 0; j < order; j++)
                {
                    *(mesh_row *)at += wz * p.weight[1][j][l] * wx;
                    at += b->pitch;
                }
                plane += b->pitch * b->n[1];
            }
        }
    }
    return lost;
}

/* The sum over one row's points of their weights times what was added up over
 * rows. */
KERNEL_FN mesh_point along_row(const struct spots *p, const int order, int lane,
                               double factor, const mesh_points *many,
                               const mesh_point *one)
{
    mesh_point sum = {0};
    KERNEL_UNROLL for (int i = 0; i < order; i++)
    {
        const scalar w = (scalar)(p->weight[0][i][lane] * factor);
        const int k = i / ABREAST;
        mesh_point point = {0};
        if (k < order / ABREAST)
            KERNEL_UNROLL for (int d = 0; d < 4; d++) point[d] =
                many[k][4 * (i % ABREAST) + d];
        else
            point = one[i - k * ABREAST];
        sum += w * point;
    }
    return sum;
}

/* `points` has the whole field of a point in one place, so that nothing is
 * added up over lanes but at the end: rows are added up first, each with one
 * weight, as many of its points at once as a vector holds. */
KERNEL_FN void gather_some(const struct md_store *s, const struct md_brick *b,
                           const int order, size_t first, size_t last,
                           const mesh_point *points)
{
    struct spots p;
    for (size_t c = first; c < last; c++) {
        find_spots(s, b, order, c, &p);
        for (int l = 0; l < LANES; l++) {
            size_t slot = c * (size_t)LANES + (size_t)l;
            double q = (double)s->charge[slot];
            if (s->id[slot] == 0 || !(fabs(q) > 0) ||
                !is_inside(b, order, &p, l))
                continue;
            mesh_points many[MD_MESH_ORDER_MAX / ABREAST + 1] = {{0}};
            mesh_point one[ABREAST] = {{0}};
            int64_t plane = first_of(b, &p, l);
            for (int k = 0; k < order; k++) {
                const mesh_point *row = points + plane;
                const double wz = p.weight[2][k][l];
                KERNEL_UNROLL for (int j = 0; j < order; j++)
                {
                    const scalar w = (scalar)(wz * p.weight[1][j][l]);
                    const mesh_points *at =
                        (const mesh_points *)(const void *)row;
                    KERNEL_UNROLL for (int i = 0; i < order / ABREAST; i++)
                        many[i] += w * at[i];
                    KERNEL_UNROLL for (int i = 0; i < order % ABREAST; i++)
                        one[i] += w * row[order / ABREAST * ABREAST + i];
                    row += b->pitch;
                }
                plane += b->pitch * b->n[1];
            }
            const mesh_point sum = along_row(&p, order, l, q, many, one);
            for (int d = 0; d < 3; d++)
                s->f[SLOT(slot, d)] += sum[d];
        }
    }
}

/* One loop for each order. */
#define LOOPS(order)                                                          \
    static __attribute__((noinline))                                          \
    size_t spread_##order(const struct md_store *s, const struct md_brick *b, \
                          size_t first, size_t last, double *mesh)            \
    {                                                                         \
        return spread_some(s, b, order, first, last, mesh);                   \
    }                                                                         \
    static __attribute__((noinline)) void gather_##order(                     \
        const struct md_store *s, const struct md_brick *b, size_t first,     \
        size_t last, const mesh_point *points)                                \
    {                                                                         \
        gather_some(s, b, order, first, last, points);                        \
    }
LOOPS(2)
LOOPS(3)
LOOPS(4)
LOOPS(5)
LOOPS(6)
LOOPS(7)

static size_t (*const spread[])(const struct md_store *,
                                const struct md_brick *, size_t, size_t,
                                double *) = {spread_2, spread_3, spread_4,
                                             spread_5, spread_6, spread_7};
static void (*const gather[])(const struct md_store *, const struct md_brick *,
                              size_t, size_t, const mesh_point *) = {
    gather_2, gather_3, gather_4, gather_5, gather_6, gather_7};

/* Worker k's clusters. */
static size_t share(const struct md_store *s, int k)
{
    return (size_t)s->n_clusters * (size_t)k / (size_t)s->n_workers;
}

static int fail_outside(struct ctx *ctx, const struct md_store *s, size_t slot)
{
    double x[3];
    for (int d = 0; d < 3; d++)
        x[d] = (double)s->x[SLOT(slot, d)] + s->state_origin[d];
    return FAIL(ctx, STATUS_LOST_PARTICLES,
                "particle %" PRId64 " at (%g, %g, %g) has left this rank's "
                "part of the mesh; the timestep is probably too large",
                s->id[slot], x[0], x[1], x[2]);
}

int md_spread_charges(struct ctx *ctx, struct md_store *s,
                      const struct md_brick *b, double *mesh)
{
    size_t size = md_brick_size(b), lost = SIZE_MAX;
    size_t copies = (size_t)s->n_workers - 1;
    memset(mesh, 0, size * sizeof *mesh);
    if (s->n_clusters == 0)
        return 0;
    if (md_grow((void **)&s->mesh_copies, &s->cap_mesh_copies, copies * size,
                sizeof *s->mesh_copies) != 0 ||
        md_grow((void **)&s->mesh_points, &s->cap_mesh_points, 4 * size,
                sizeof *s->mesh_points) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a mesh");
#pragma omp parallel for schedule(static, 1) num_threads(s->n_workers) \
    reduction(min                                                      \
              : lost)
    for (int k = 0; k < s->n_workers; k++) {
        double *to = mesh;
        if (k > 0) {
            to = s->mesh_copies + (size_t)(k - 1) * size;
            memset(to, 0, size * sizeof *to);
        }
        size_t slot = spread[b->order - MD_MESH_ORDER_MIN](s, b, share(s, k),
                                                           share(s, k + 1), to);
        lost = slot < lost ? slot : lost; /* a thread may have several */
    }
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k < copies; k++)
            mesh[i] += s->mesh_copies[k * size + i];
    return lost < SIZE_MAX ? fail_outside(ctx, s, lost) : 0;
}

void md_gather_field(struct md_store *s, const struct md_brick *b,
                     const double *const field[3])
{
    const size_t size = md_brick_size(b);
    const double *fx = field[0], *fy = field[1], *fz = field[2];
    mesh_point *points = (mesh_point *)(void *)s->mesh_points;
    if (s->n_clusters == 0)
        return;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (size_t i = 0; i < size; i++)
        points[i] =
            (mesh_point){(scalar)fx[i], (scalar)fy[i], (scalar)fz[i], 0};
#pragma omp parallel for schedule(static, 1) num_threads(s->n_workers)
    for (int k = 0; k < s->n_workers; k++)
        gather[b->order - MD_MESH_ORDER_MIN](s, b, share(s, k), share(s, k + 1),
                                             points);
}

/* ---- moments ---- */

void md_sum_charges(const struct md_store *s, struct md_charge_moments *out)
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    *out = (struct md_charge_moments){0};
    for (size_t slot = 0; slot < slots; slot++) {
        if (s->id[slot] == 0)
            continue;
        double q = (double)s->charge[slot];
        out->charge += q;
        out->squares += q * q;
        for (int d = 0; d < 3; d++) {
            double x = (double)s->x[SLOT(slot, d)] + s->state_origin[d];
            out->dipole[d] += q * x;
            out->second[d] += q * x * x;
        }
    }
}

void md_push_charges(struct md_store *s, const double even[3],
                     const double slope[3])
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    for (size_t slot = 0; slot < slots; slot++)
        for (int d = 0; d < 3 && s->id[slot] != 0; d++) {
            double x = (double)s->x[SLOT(slot, d)] + s->state_origin[d];
            s->f[SLOT(slot, d)] +=
                (scalar)((double)s->charge[slot] * (even[d] + slope[d] * x));
        }
}
