/* exchange_cuda.cu: ghost layers: beyond walls and periodic ends, and between
 * ranks, packed on the card.
 *
 * An exchange moves the last layer of some arrays up (into the upper neighbor's
 * lower ghosts), the first layer down, or both. A message to a rank that is
 * both neighbors holds what goes up before what goes down.
 */
#include "kernels/fluid/store_cuda.h"

#include <string.h>

#include "kernels/fluid/poisson_cuda.h"

enum { PARTS_MAX = FLUID_FIELDS_MAX + 1 };

/* Arrays and their rules on the two sides of a direction. */
struct fluid_ghosts {
    int n;
    scalar *array[PARTS_MAX];
    struct fluid_rule rule[PARTS_MAX][2];
};

/* What an exchange moves. */
struct parts {
    int axis, up, down, n;
    scalar *array[PARTS_MAX];
    int rule[PARTS_MAX];
};

static void add_part(struct parts *p, scalar *array, int rule)
{
    p->array[p->n] = array;
    p->rule[p->n++] = rule;
}

void fluid_cuda_make_rules(struct fluid_store *s)
{
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            if (s->view.wall[d][side]) {
                double end = fluid_h(s, side ? s->setup.local[2] - 1 : 0);
                fluid_set_wall_rules(&s->setup, d, side, end, s->rule);
            }
}

/* ---- ghosts from the block itself ---- */

/* Rows of a layer: planes for one normal to y (whole: ghost planes, too), rows
 * with ghosts for one normal to z. */
static __host__ __device__ __forceinline__ int layer_rows(const int n[3],
                                                          int axis, int whole)
{
    return axis == FLUID_Y ? n[2] + 2 * whole : n[1] + 2;
}

/* Where row r of layer `layer` begins. */
static __device__ __forceinline__ ptrdiff_t layer_at(const struct fluid_view *v,
                                                     int axis, int whole,
                                                     int layer, int r)
{
    return axis == FLUID_Y ? (r - whole) * v->plane + layer * v->pitch
                           : layer * v->plane + (r - 1) * v->pitch;
}

/* Ghosts beyond one side along y or z. */
static __global__ void fill_layer(struct fluid_view v, struct fluid_ghosts g,
                                  int axis, int side, int whole)
{
    int n = v.n[axis], rows = layer_rows(v.n, axis, whole);
    int to = side ? n : -1, inner = side ? n - 1 : 0;
    size_t all = (size_t)g.n * (size_t)rows * (size_t)v.n[0];
    for (size_t t = linear_thread(); t < all; t += linear_stride()) {
        int i = (int)(t % (size_t)v.n[0]);
        size_t row = t / (size_t)v.n[0];
        int f = (int)(row / (size_t)rows), r = (int)(row % (size_t)rows);
        struct fluid_rule rule = g.rule[f][side];
        int from = rule.wall ? inner : n - 1 - inner;
        scalar value = g.array[f][layer_at(&v, axis, whole, from, r) + i];
        g.array[f][layer_at(&v, axis, whole, to, r) + i] =
            rule.wall ? rule.factor * value + rule.offset : value;
    }
}

/* Ghosts along x of all rows, ghost rows included. */
static __global__ void fill_x(struct fluid_view v, struct fluid_ghosts g)
{
    size_t rows = (size_t)(v.n[1] + 2), planes = (size_t)(v.n[2] + 2);
    size_t all = (size_t)g.n * rows * planes;
    int n = v.n[0];
    for (size_t t = linear_thread(); t < all; t += linear_stride()) {
        int f = (int)(t / (rows * planes));
        ptrdiff_t k = (ptrdiff_t)(t / rows % planes) - 1;
        ptrdiff_t j = (ptrdiff_t)(t % rows) - 1;
        scalar *row = g.array[f] + k * v.plane + j * v.pitch;
        struct fluid_rule low = g.rule[f][0], high = g.rule[f][1];
        scalar first = row[0], last = row[n - 1];
        row[-1] = low.wall ? low.factor * first + low.offset : last;
        row[n] = high.wall ? high.factor * last + high.offset : first;
    }
}

static struct fluid_ghosts ghosts_of(const struct fluid_store *s,
                                     const struct parts *p, int axis)
{
    struct fluid_ghosts g;
    memset(&g, 0, sizeof g);
    g.n = p->n;
    for (int f = 0; f < p->n; f++) {
        g.array[f] = p->array[f];
        for (int side = 0; side < 2; side++)
            g.rule[f][side] = s->rule[p->rule[f]][axis][side];
    }
    return g;
}

/* Where there is a wall, or the direction is periodic within the block. */
static int fill_side(struct fluid_store *s, const struct parts *p, int side,
                     int whole)
{
    const struct fluid_view *v = &s->view;
    int axis = p->axis;
    if (!v->wall[axis][side] && (s->cut[axis] || !v->periodic[axis]))
        return 0;
    size_t n =
        (size_t)p->n * (size_t)layer_rows(v->n, axis, whole) * (size_t)v->n[0];
    LAUNCH(fill_layer, linear_blocks(n), TILE, 0, s->device->stream, *v,
           ghosts_of(s, p, axis), axis, side, whole);
    CUDA_TRY_LAUNCH(s->ctx, "fill_layer");
    return 0;
}

static int fill_rows(struct fluid_store *s, const struct parts *p)
{
    const struct fluid_view *v = &s->view;
    size_t n = (size_t)p->n * (size_t)(v->n[1] + 2) * (size_t)(v->n[2] + 2);
    LAUNCH(fill_x, linear_blocks(n), TILE, 0, s->device->stream, *v,
           ghosts_of(s, p, FLUID_X));
    CUDA_TRY_LAUNCH(s->ctx, "fill_x");
    return 0;
}

/* ---- walls as those who look at a flow want them ---- */

/* Factors of a parabola: wall part, the cell beside the wall, the next one. */
struct fluid_parabola {
    scalar wall[3], near, far;
};

/* Ghosts of the tangential velocity beyond one no-slip wall, with all that lies
 * beyond other walls. */
static __global__ void smooth_layer(struct fluid_view v, int axis, int side,
                                    struct fluid_parabola q)
{
    const ptrdiff_t step[3] = {1, v.pitch, v.plane};
    int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
    size_t na = (size_t)v.n[a] + 2, nb = (size_t)v.n[b] + 2;
    ptrdiff_t in = side ? -step[axis] : step[axis];
    ptrdiff_t ghost = (side ? v.n[axis] : -1) * step[axis];
    for (size_t t = linear_thread(); t < na * nb; t += linear_stride()) {
        ptrdiff_t at = ghost + ((ptrdiff_t)(t % na) - 1) * step[a] +
                       ((ptrdiff_t)(t / na) - 1) * step[b];
        for (int f = 0; f < 3; f++)
            if (f != axis)
                v.field[f][at] = q.wall[f] + q.near * v.field[f][at + in] +
                                 q.far * v.field[f][at + 2 * in];
    }
}

static int smooth_side(struct fluid_store *s, int axis, int side)
{
    const struct fluid_view *v = &s->view;
    const struct fluid_face *face = &s->setup.face[axis][side];
    if (!v->wall[axis][side] || s->setup.cells[axis] == 1 ||
        face->type != FLUID_NO_SLIP)
        return 0;
    double d0 = 0.5, d1 = 1.5;
    if (axis == FLUID_Z) {
        int64_t end = side ? s->setup.local[2] - 1 : 0;
        d0 = 0.5 * fluid_h(s, end);
        d1 = 2 * d0 + 0.5 * fluid_h(s, side ? end - 1 : end + 1);
    }
    /* Through the wall's velocity and centers at d0 and d1 from it, at -d0. */
    struct fluid_parabola q;
    for (int f = 0; f < 3; f++)
        q.wall[f] = (scalar)(face->velocity[f] * 2 * (d0 + d1) / d1);
    q.near = (scalar)(-(d0 + d1) / (d1 - d0));
    q.far = (scalar)(2 * d0 * d0 / (d1 * (d1 - d0)));
    size_t n = 1;
    for (int d = 0; d < 3; d++)
        n *= d == axis ? 1 : (size_t)v->n[d] + 2;
    LAUNCH(smooth_layer, linear_blocks(n), TILE, 0, s->device->stream, *v, axis,
           side, q);
    CUDA_TRY_LAUNCH(s->ctx, "smooth_layer");
    return 0;
}

int fluid_cuda_smooth_walls(struct fluid_store *s)
{
    for (int axis = 0; axis < 3; axis++)
        for (int side = 0; side < 2; side++)
            TRY(smooth_side(s, axis, side));
    return 0;
}

int fluid_cuda_restore_walls(struct fluid_store *s)
{
    struct parts p;
    memset(&p, 0, sizeof p);
    for (int f = 0; f < 3; f++)
        add_part(&p, s->view.field[f], f);
    for (p.axis = FLUID_Y; p.axis <= FLUID_Z; p.axis++)
        for (int side = 0; side < 2; side++)
            if (s->view.wall[p.axis][side] || p.axis == FLUID_Z)
                TRY(fill_side(s, &p, side, 1));
    return fill_rows(s, &p);
}

/* ---- messages ---- */

/* One layer of all arrays to or from a message. */
static __global__ void move_layer(struct fluid_view v, struct fluid_ghosts g,
                                  int axis, int layer, int pack,
                                  scalar *message)
{
    int rows = layer_rows(v.n, axis, 0);
    size_t all = (size_t)g.n * (size_t)rows * (size_t)v.n[0];
    for (size_t t = linear_thread(); t < all; t += linear_stride()) {
        int i = (int)(t % (size_t)v.n[0]);
        size_t row = t / (size_t)v.n[0];
        int f = (int)(row / (size_t)rows), r = (int)(row % (size_t)rows);
        scalar *at = g.array[f] + layer_at(&v, axis, 0, layer, r) + i;
        if (pack)
            message[t] = *at;
        else
            *at = message[t];
    }
}

static size_t layer_bytes(const struct fluid_store *s, const struct parts *p)
{
    return (size_t)p->n * (size_t)layer_rows(s->view.n, p->axis, 0) *
           (size_t)s->view.n[0] * sizeof(scalar);
}

static int move(struct fluid_store *s, const struct parts *p, int layer,
                int pack, char **at)
{
    size_t bytes = layer_bytes(s, p);
    LAUNCH(move_layer, linear_blocks(bytes / sizeof(scalar)), TILE, 0,
           s->device->stream, s->view, ghosts_of(s, p, p->axis), p->axis, layer,
           pack, (scalar *)*at);
    CUDA_TRY_LAUNCH(s->ctx, "move_layer");
    *at += bytes;
    return 0;
}

size_t fluid_cuda_halo_bytes(const struct fluid_setup *setup)
{
    size_t most = 0;
    const int n[3] = {(int)setup->local[0], (int)setup->local[1],
                      (int)setup->local[2]};
    int arrays =
        3 + setup->n_scalars + (setup->diffusion != FLUID_EXPLICIT ? 1 : 0);
    for (int d = 1; d < 3; d++) {
        size_t layer = (size_t)layer_rows(n, d, 0) * (size_t)n[0];
        if (setup->dims[d] > 1 && layer > most)
            most = layer;
    }
    return 2 * most * (size_t)arrays * sizeof(scalar);
}

static struct parts parts_of(const struct fluid_store *s,
                             enum fluid_exchange what)
{
    struct parts p;
    memset(&p, 0, sizeof p);
    p.axis = fluid_exchange_axis(what);
    switch (what) {
    case FLUID_HALO_Y:
    case FLUID_HALO_Z:
        p.up = p.down = 1;
        for (int f = 0; f < s->view.n_fields; f++)
            add_part(&p, s->view.field[f], f);
        if (s->view.pressure)
            add_part(&p, s->view.pressure, FLUID_RULE_PRESSURE);
        break;
    case FLUID_LOW_Y:
    case FLUID_LOW_Z:
        p.up = 1;
        add_part(&p, s->view.field[p.axis], p.axis);
        break;
    default: /* FLUID_PSI_Y, FLUID_PSI_Z */
        p.up = s->any_implicit;
        p.down = 1;
        add_part(&p, s->view.next[0], FLUID_RULE_PRESSURE);
    }
    return p;
}

/* The ranks above and below this one; which of them partner m is. */
struct neighbors {
    int n, partner[MESSAGES_MAX];
    int upper[MESSAGES_MAX], lower[MESSAGES_MAX];
};

static struct neighbors neighbors_of(const struct fluid_store *s, int axis)
{
    struct neighbors b;
    int size = s->setup.dims[axis], me = s->setup.coords[axis];
    int periodic = s->view.periodic[axis];
    int upper = me + 1 < size ? me + 1 : periodic ? 0 : -1;
    int lower = me > 0 ? me - 1 : periodic ? size - 1 : -1;
    memset(&b, 0, sizeof b);
    if (size == 1)
        return b;
    if (upper >= 0) {
        b.upper[b.n] = 1;
        b.lower[b.n] = upper == lower;
        b.partner[b.n++] = upper;
    }
    if (lower >= 0 && lower != upper) {
        b.lower[b.n] = 1;
        b.partner[b.n++] = lower;
    }
    return b;
}

static int begin(struct fluid_store *s, const struct parts *p,
                 struct fluid_transfer *out)
{
    struct neighbors b = neighbors_of(s, p->axis);
    char *to = s->send.device, *from = s->recv.host;
    for (int m = 0; m < b.n; m++) {
        size_t begins = (size_t)(to - s->send.device);
        if (p->up && b.upper[m])
            TRY(move(s, p, s->view.n[p->axis] - 1, 1, &to));
        if (p->down && b.lower[m])
            TRY(move(s, p, 0, 1, &to));
        /* From the lower neighbor comes what goes up. */
        int layers = (p->up && b.lower[m]) + (p->down && b.upper[m]);
        s->partner[m] = b.partner[m];
        s->send_at[m] = s->send.host + begins;
        s->send_bytes[m] = (size_t)(to - s->send.device) - begins;
        s->recv_at[m] = from;
        s->recv_bytes[m] = (size_t)layers * layer_bytes(s, p);
        from += s->recv_bytes[m];
    }
    size_t bytes = (size_t)(to - s->send.device);
    s->expected = (size_t)(from - s->recv.host);
    TRY(fluid_cuda_to_twin(s, &s->send, 0, bytes));
    /* Also where nothing is sent: what came last time may still be on its way
     * from the buffer to the card. */
    if (bytes > 0 || s->expected > 0)
        CUDA_TRY(s->ctx, cudaStreamSynchronize(s->device->stream));
    out->n = b.n;
    out->partner = s->partner;
    out->send = s->send_at;
    out->send_bytes = s->send_bytes;
    out->recv = s->recv_at;
    out->recv_bytes = s->recv_bytes;
    return 0;
}

static int end(struct fluid_store *s, const struct parts *p)
{
    struct neighbors b = neighbors_of(s, p->axis);
    char *from = s->recv.device;
    TRY(fluid_cuda_from_twin(s, &s->recv, 0, s->expected));
    for (int m = 0; m < b.n; m++) {
        if (p->up && b.lower[m])
            TRY(move(s, p, -1, 0, &from));
        if (p->down && b.upper[m])
            TRY(move(s, p, s->view.n[p->axis], 0, &from));
    }
    if (p->up)
        TRY(fill_side(s, p, 0, 0));
    if (p->down)
        TRY(fill_side(s, p, 1, 0));
    return 0;
}

/* ---- the store's calls ---- */

static int is_poisson(enum fluid_exchange what)
{
    return what == FLUID_TRANSPOSE || what == FLUID_TRANSPOSE_BACK ||
           what == FLUID_COLUMNS;
}
static int is_lines(enum fluid_exchange what)
{
    return what == FLUID_LINES_Y || what == FLUID_LINES_Z;
}

int fluid_cuda_send_begin(struct ctx *ctx, struct fluid_store *s,
                          enum fluid_exchange what, struct fluid_transfer *out)
{
    (void)ctx;
    memset(out, 0, sizeof *out);
    if (is_poisson(what))
        return poisson_cuda_send_begin(s, what, out);
    if (is_lines(what))
        return lines_cuda_send_begin(s, what, out);
    if (what == FLUID_LOW_Y || what == FLUID_LOW_Z)
        TRY(fluid_cuda_apply_delta(s));
    if (what == FLUID_PSI_Y || what == FLUID_PSI_Z)
        TRY(fluid_cuda_need_psi(s));
    struct parts p = parts_of(s, what);
    return begin(s, &p, out);
}

int fluid_cuda_send_end(struct ctx *ctx, struct fluid_store *s,
                        enum fluid_exchange what)
{
    (void)ctx;
    if (is_poisson(what))
        return poisson_cuda_send_end(s, what);
    if (is_lines(what))
        return lines_cuda_send_end(s, what);
    struct parts p = parts_of(s, what);
    TRY(end(s, &p));
    /* Last, so that ghosts of ghosts are as on the CPU. */
    return what == FLUID_HALO_Z || what == FLUID_PSI_Z ? fill_rows(s, &p) : 0;
}
