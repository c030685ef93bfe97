/* mesh.c: see mesh.h. Bricks, and the way of their rows to lines and back. */
#include "domain/mesh_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/grid.h"
#include "kernels/fft_lines.h"

static int64_t wrap(int64_t i, int64_t n)
{
    int64_t r = i % n;
    return r < 0 ? r + n : r;
}

/* ---- rows that bricks and lines share ---- */

/* What part of the grid's edge d is before block c. */
static double part_below(const struct grid *g, int d, int c)
{
    return g->cuts[d] ? g->cuts[d][c] : (double)c / g->dims[d];
}

/* What part of edge d of the mesh's box a step along edge e of the grid's,
 * which has right angles, is: see kernels/md/cell.h. */
static double part_of(const struct grid *g, const double extent[3], int d,
                      int e)
{
    const double *l = g->box_length, *t = g->tilt;
    double xy = t[0] / l[0], xz = t[1] / l[0], yz = t[2] / l[1];
    if (d > e || (d < e && !g->tilted))
        return 0;
    if (d == e)
        return 1 / extent[d];
    return e == 1 ? -xy : d == 1 ? -yz : xy * yz - xz;
}

/* The brick of the rank with the given coordinates. Walls, and an extent other
 * than 1, are where edges do not lean. */
static void brick_of(const struct grid *g, const double extent[3],
                     const int64_t cells[3], int order, const double stray[3],
                     const int coords[3], int64_t *first, int64_t *n)
{
    for (int d = 0; d < 3; d++) {
        double margin = stray[d] * (double)cells[d] + 1e-6;
        double lo = -margin, hi = margin;
        for (int e = d; e < 3; e++) {
            double f = part_of(g, extent, d, e) * (double)cells[d];
            double low = f * part_below(g, e, coords[e]);
            double high = f * part_below(g, e, coords[e] + 1);
            lo += fmin(low, high);
            hi += fmax(low, high);
        }
        int64_t low = (int64_t)floor(lo - 0.5 * order) + 1;
        int64_t high = (int64_t)floor(hi - 0.5 * order) + order;
        first[d] = low;
        n[d] = high - low + 1;
    }
}

/* The points [first, first + n) that fall into [lo, hi) of n_cells once they
 * are wrapped. of_lines: as seen from lo, else from first. */
static int64_t *list_points(int64_t first, int64_t n, int64_t cells, int64_t lo,
                            int64_t hi, int of_lines, size_t *count)
{
    int64_t *list = malloc(((size_t)n + 1) * sizeof *list);
    *count = 0;
    for (int64_t i = 0; i < n && list; i++) {
        int64_t at = wrap(first + i, cells);
        if (at >= lo && at < hi)
            list[(*count)++] = of_lines ? at - lo : i;
    }
    return list;
}

static void free_shares(struct mesh_share *s, int n)
{
    for (int i = 0; i <= n && s; i++) {
        free(s[i].y);
        free(s[i].z);
    }
    free(s);
}

/* What the brick [first, first + n) and the lines at place `at` share. */
static int find_share(const struct mesh *m, const int64_t first[3],
                      const int64_t n[3], const int at[2], int of_lines,
                      struct mesh_share *out)
{
    const struct mesh_parts *p = m->parts;
    const int64_t *cells = m->brick.cells;
    *out = (struct mesh_share){.first = first[0], .nx = n[0]};
    out->y = list_points(
        first[1], n[1], cells[1], mesh_cut(cells[1], p->dims[0], at[0]),
        mesh_cut(cells[1], p->dims[0], at[0] + 1), of_lines, &out->ny);
    out->z = list_points(
        first[2], n[2], cells[2], mesh_cut(cells[2], p->dims[1], at[1]),
        mesh_cut(cells[2], p->dims[1], at[1] + 1), of_lines, &out->nz);
    return out->y && out->z ? 0 : -1;
}

static size_t share_size(const struct mesh_share *s)
{
    return s->ny * s->nz * (size_t)s->nx;
}

/* Who has rows of this rank's lines, and who owns rows of its brick. */
static int find_partners(struct mesh *m, const struct grid *g,
                         const double extent[3], int order,
                         const double stray[3])
{
    struct mesh_parts *p = m->parts;
    struct mesh_messages *b = &p->bricks;
    size_t room = (size_t)g->size;
    p->to = calloc(room + 1, sizeof *p->to);
    p->from = calloc(room + 1, sizeof *p->from);
    if (!p->to || !p->from || mesh_members(b, room) != 0)
        return -1;
    for (int r = 0; r < g->size; r++) {
        int at[2] = {r % p->dims[0], r / p->dims[0]}, coords[3];
        int64_t first[3], n[3];
        struct mesh_share *to = &p->to[b->n], *from = &p->from[b->n];
        grid_coords(g, r, coords);
        brick_of(g, extent, m->brick.cells, order, stray, coords, first, n);
        if (find_share(m, m->brick.first, m->brick.n, at, 0, to) != 0 ||
            find_share(m, first, n, p->at, 1, from) != 0)
            return -1;
        b->send[b->n] = share_size(to);
        b->recv[b->n] = share_size(from);
        b->rank[b->n] = r;
        if (b->send[b->n] + b->recv[b->n] > 0) {
            b->n++;
            continue;
        }
        free(to->y);
        free(to->z);
        free(from->y);
        free(from->z);
        *to = *from = (struct mesh_share){0};
    }
    return 0;
}

/* ---- the whole ---- */

/* Ranks along y and z of lines: planes where there are enough of them. */
static void choose_dims(int size, const int64_t cells[3], int dims[2])
{
    int64_t half = cells[0] / 2 + 1;
    dims[0] = 1;
    dims[1] = size;
    for (int nz = size; nz >= 1; nz--)
        if (size % nz == 0 && nz <= cells[1] && nz <= cells[2] &&
            size / nz <= cells[1] && size / nz <= half) {
            dims[0] = size / nz;
            dims[1] = nz;
            return;
        }
}

static int allocate(struct mesh *m)
{
    struct mesh_parts *p = m->parts;
    size_t brick = md_brick_size(&m->brick);
    size_t lines = (size_t)(p->ny * p->nz * m->brick.cells[0]);
    m->charge = calloc(brick, sizeof *m->charge);
    int ok = m->charge != NULL;
    for (int d = 0; d < 3; d++) {
        m->field[d] = calloc(brick, sizeof *m->field[d]);
        p->lines[d] = fft_lines_alloc(lines);
        ok = ok && m->field[d] && p->lines[d];
    }
    p->bytes += (double)(4 * brick + 3 * lines) * sizeof(double);
    return ok ? 0 : -1;
}

int mesh_create(struct ctx *ctx, const struct grid *grid,
                const double extent[3], const int64_t cells[3], int order,
                const double stray[3], struct mesh **out)
{
    struct mesh *m = *out = calloc(1, sizeof *m);
    struct mesh_parts *p = calloc(1, sizeof *p);
    int status = m && p ? 0 : FAIL(ctx, STATUS_MEMORY, "no memory for a mesh");
    if (m)
        m->parts = p;
    else
        free(p);
    TRY(comm_agree(ctx, status));
    m->brick.order = order;
    m->brick.tilted = grid->tilted;
    for (int d = 0; d < 3; d++) {
        m->brick.cells[d] = cells[d];
        m->brick.box_lo[d] = grid->box_lo[d];
        m->brick.box_length[d] = grid->box_length[d] * extent[d];
        m->brick.tilt[d] = grid->tilt[d];
    }
    brick_of(grid, extent, cells, order, stray, grid->coords, m->brick.first,
             m->brick.n);
    m->brick.pitch = m->brick.n[0] + MD_MESH_PADDING;
    choose_dims(grid->size, cells, p->dims);
    p->at[0] = grid->rank % p->dims[0];
    p->at[1] = grid->rank / p->dims[0];
    p->y = mesh_cut(cells[1], p->dims[0], p->at[0]);
    p->ny = mesh_cut(cells[1], p->dims[0], p->at[0] + 1) - p->y;
    p->z = mesh_cut(cells[2], p->dims[1], p->at[1]);
    p->nz = mesh_cut(cells[2], p->dims[1], p->at[1] + 1) - p->z;
    if (find_partners(m, grid, extent, order, stray) != 0 || allocate(m) != 0)
        status = FAIL(ctx, STATUS_MEMORY,
                      "no memory for a mesh of %d x %d x %d points",
                      (int)cells[0], (int)cells[1], (int)cells[2]);
    TRY(comm_agree(ctx, status));
    TRY(mesh_connect(ctx, &p->bricks, grid->rank, 3));
    return mesh_fft_create(ctx, m);
}

void mesh_destroy(struct mesh *m)
{
    if (!m)
        return;
    struct mesh_parts *p = m->parts;
    if (p) {
        free_shares(p->to, p->bricks.n);
        free_shares(p->from, p->bricks.n);
        mesh_fft_destroy(p);
        mesh_messages_free(&p->bricks);
        for (int d = 0; d < 3; d++)
            fft_lines_free(p->lines[d]);
    }
    free(p);
    free(m->charge);
    for (int d = 0; d < 3; d++)
        free(m->field[d]);
    fft_lines_free(m->modes);
    free(m);
}

/* Of messages `most` times as long as their numbers. */
static double message_bytes(const struct mesh_messages *m, double most)
{
    double numbers = 0;
    for (int i = 0; i < m->n; i++)
        numbers += (double)m->send[i] + (double)m->recv[i];
    return numbers * most * sizeof(double);
}

double mesh_bytes(const struct mesh *m)
{
    const struct mesh_parts *p = m->parts;
    return p->bytes + message_bytes(&p->bricks, 3) +
           message_bytes(&p->turn[0], 1) + message_bytes(&p->turn[1], 1);
}

/* ---- bricks to lines, and back ---- */

static double *brick_row(const struct mesh *m, double *array, int64_t y,
                         int64_t z)
{
    return array + (z * m->brick.n[1] + y) * m->brick.pitch;
}

static double *line_at(const struct mesh *m, double *lines, int64_t y,
                       int64_t z)
{
    return lines + (z * m->parts->ny + y) * m->brick.cells[0];
}

/* Add nx numbers to a periodic line of n from point `first` on. */
static void add_row(const double *row, int64_t first, int64_t nx, double *line,
                    int64_t n)
{
    int64_t at = wrap(first, n);
    while (nx > 0) {
        int64_t piece = nx < n - at ? nx : n - at;
        for (int64_t i = 0; i < piece; i++)
            line[at + i] += row[i];
        row += piece;
        nx -= piece;
        at = 0;
    }
}

static void take_row(const double *line, int64_t n, int64_t first, int64_t nx,
                     double *row)
{
    int64_t at = wrap(first, n);
    while (nx > 0) {
        int64_t piece = nx < n - at ? nx : n - at;
        memcpy(row, line + at, (size_t)piece * sizeof *row);
        row += piece;
        nx -= piece;
        at = 0;
    }
}

/* The rows of all bricks, added up, into lines[0]. This rank's own go straight
 * there, in their turn. */
static int collect(struct ctx *ctx, struct mesh *m)
{
    struct mesh_parts *p = m->parts;
    struct mesh_messages *b = &p->bricks;
    int64_t n = m->brick.cells[0];
    double *to = b->out;
    for (int i = 0; i < b->n; i++) {
        const struct mesh_share *s = &p->to[i];
        for (size_t k = 0; k < s->nz && i != b->self; k++)
            for (size_t j = 0; j < s->ny; j++) {
                memcpy(to, brick_row(m, m->charge, s->y[j], s->z[k]),
                       (size_t)s->nx * sizeof *to);
                to += s->nx;
            }
    }
    TRY(mesh_send(ctx, b, 1));
    memset(p->lines[0], 0, (size_t)(p->ny * p->nz * n) * sizeof(double));
    for (int i = 0; i < b->n; i++) {
        const struct mesh_share *s = &p->from[i], *own = &p->to[i];
        const double *row = mesh_message(b, i, 1);
        for (size_t k = 0; k < s->nz; k++)
            for (size_t j = 0; j < s->ny; j++) {
                const double *from =
                    i == b->self ? brick_row(m, m->charge, own->y[j], own->z[k])
                                 : row;
                add_row(from, s->first, s->nx,
                        line_at(m, p->lines[0], s->y[j], s->z[k]), n);
                row += s->nx;
            }
    }
    return 0;
}

/* Rows of this rank's lines that a brick needs, one behind the other; returns
 * what is behind them. */
static double *pack_share(const struct mesh *m, const struct mesh_share *s,
                          double *lines, double *to)
{
    for (size_t k = 0; k < s->nz; k++)
        for (size_t j = 0; j < s->ny; j++) {
            take_row(line_at(m, lines, s->y[j], s->z[k]), m->brick.cells[0],
                     s->first, s->nx, to);
            to += s->nx;
        }
    return to;
}

/* The same into this rank's own brick. */
static void take_own(const struct mesh *m, double *lines, double *brick)
{
    const struct mesh_parts *p = m->parts;
    const struct mesh_share *from = &p->from[p->bricks.self];
    const struct mesh_share *to = &p->to[p->bricks.self];
    for (size_t k = 0; k < from->nz; k++)
        for (size_t j = 0; j < from->ny; j++)
            take_row(line_at(m, lines, from->y[j], from->z[k]),
                     m->brick.cells[0], from->first, from->nx,
                     brick_row(m, brick, to->y[j], to->z[k]));
}

static const double *unpack_share(const struct mesh *m,
                                  const struct mesh_share *s,
                                  const double *from, double *brick)
{
    for (size_t k = 0; k < s->nz; k++)
        for (size_t j = 0; j < s->ny; j++) {
            memcpy(brick_row(m, brick, s->y[j], s->z[k]), from,
                   (size_t)s->nx * sizeof *from);
            from += s->nx;
        }
    return from;
}

int mesh_return(struct ctx *ctx, struct mesh *m, int n)
{
    struct mesh_parts *p = m->parts;
    struct mesh_messages *b = &p->bricks;
    mesh_reverse(b);
    double *to = b->out;
    for (int i = 0; i < b->n; i++)
        for (int d = 0; d < n && i != b->self; d++)
            to = pack_share(m, &p->from[i], p->lines[d], to);
    int status = mesh_send(ctx, b, n);
    for (int i = 0; i < b->n && status == 0; i++) {
        const double *from = mesh_message(b, i, n);
        for (int d = 0; d < n; d++)
            if (i == b->self)
                take_own(m, p->lines[d], m->field[d]);
            else
                from = unpack_share(m, &p->to[i], from, m->field[d]);
    }
    mesh_reverse(b);
    return status;
}

/* ---- the three transforms ---- */

int mesh_forward(struct ctx *ctx, struct mesh *m)
{
    TRY(collect(ctx, m));
    return mesh_fft_forward(ctx, m);
}

int mesh_back(struct ctx *ctx, struct mesh *m, int d)
{
    return mesh_fft_back(ctx, m, m->parts->lines[d]);
}
