/* mesh_fft.c: the Fourier transform of a mesh that is spread over ranks.
 *
 *     lines along x  [z][y][x]     real
 *     after x        [z][y][kx]    rank (a, b) has y of a, z of b
 *     after y        [z][kx][ky]   kx of a, z of b
 *     after z        [ky][kx][kz]  kx of a, ky of b: the modes
 *
 * From one to the next the rank gives the last index away in pieces and gets
 * another one whole: among the ranks of equal b first, then of equal a. What is
 * sent stands in the order of the receiver's array already.
 */
#include "domain/mesh_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/fft_lines.h"

enum { RE_IM = 2 };

/* One transposition. The source is [n[0]][n[1]][last]; piece q of `last` goes
 * to member q. swap 0: member q sees it as [piece][n[1]][n[0]]; swap 1: as
 * [n[0]][piece][n[1]]. What this rank has from member q are the rows
 * [..][..][take[q]] of its array, side by side. */
struct turn {
    struct mesh_messages *messages;
    int swap;
    int64_t n[2], last;
    int pieces;
};

/* Piece q, as rows that begin `pitch` cells apart; 0: one behind the other.
 * Returns what is behind them. Neighbors in `from` are read one after the
 * other.
 */
static double *pack_piece(const struct turn *t, const double *from, int q,
                          int64_t pitch, double *to)
{
    int64_t lo = mesh_cut(t->last, t->pieces, q);
    int64_t len = mesh_cut(t->last, t->pieces, q + 1) - lo;
    int64_t outer = t->swap ? t->n[0] : t->n[1];
    int64_t cells = t->swap ? t->n[1] : t->n[0];
    int64_t across = t->n[1] * t->last; /* from one n[0] to the next */
    int64_t step = t->swap ? across : t->last;
    int64_t stride = t->swap ? t->last : across;
    if (pitch == 0)
        pitch = cells;
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < len; j++) {
            const double *at = from + RE_IM * (lo + i * step + j);
            int64_t index = t->swap ? i * len + j : j * outer + i;
            double *row = to + RE_IM * index * pitch;
            for (int64_t k = 0; k < cells; k++) {
                row[0] = at[0];
                row[1] = at[1];
                row += RE_IM;
                at += RE_IM * stride;
            }
        }
    return to + RE_IM * outer * len * pitch;
}

/* `whole`: length of the rows of the array `to`, into which this rank's own
 * piece goes. */
static void pack(const struct turn *t, const double *from, int64_t whole,
                 double *to)
{
    double *message = t->messages->out;
    for (int q = 0; q < t->pieces; q++) {
        if (q == t->messages->self)
            (void)pack_piece(t, from, q, whole,
                             to + RE_IM * mesh_cut(whole, t->pieces, q));
        else
            message = pack_piece(t, from, q, 0, message);
    }
}

/* rows: how many the messages have; whole: length of the rows they make. */
static void unpack(const struct turn *t, int64_t rows, int64_t whole,
                   double *to)
{
    for (int q = 0; q < t->pieces; q++) {
        const double *from = mesh_message(t->messages, q, 1);
        int64_t lo = mesh_cut(whole, t->pieces, q);
        int64_t len = mesh_cut(whole, t->pieces, q + 1) - lo;
        for (int64_t r = 0; r < rows && q != t->messages->self; r++)
            memcpy(to + RE_IM * (r * whole + lo), from + RE_IM * r * len,
                   (size_t)len * RE_IM * sizeof *to);
    }
}

/* This rank's own piece of n cells that are cut along dimension d. */
static int64_t own(const struct mesh_parts *p, int64_t n, int d)
{
    return mesh_cut(n, p->dims[d], p->at[d] + 1) -
           mesh_cut(n, p->dims[d], p->at[d]);
}

/* Members of a transposition and what they send: `give` numbers a unit of the
 * last index, which is cut from `last`; `get` a unit of what is cut from
 * `whole`. */
static int connect(struct ctx *ctx, struct mesh *m, int d, int64_t lines,
                   int64_t last, int64_t whole)
{
    struct mesh_parts *p = m->parts;
    struct mesh_messages *t = &p->turn[d];
    int members = p->dims[d];
    int64_t mine = own(p, last, d), rest = own(p, whole, d);
    int status = mesh_members(t, (size_t)members);
    if (status != 0)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for a transposition");
    TRY(comm_agree(ctx, status));
    t->n = members;
    for (int q = 0; q < members; q++) {
        int64_t theirs =
            mesh_cut(last, members, q + 1) - mesh_cut(last, members, q);
        int64_t has =
            mesh_cut(whole, members, q + 1) - mesh_cut(whole, members, q);
        t->rank[q] =
            d == 0 ? p->at[1] * p->dims[0] + q : q * p->dims[0] + p->at[0];
        t->send[q] = (size_t)(RE_IM * lines * theirs * rest);
        t->recv[q] = (size_t)(RE_IM * lines * mine * has);
    }
    return mesh_connect(ctx, t, p->at[1] * p->dims[0] + p->at[0], 1);
}

size_t mesh_mode_numbers(const struct mesh *m)
{
    return (size_t)(RE_IM * m->mode_n[0] * m->mode_n[1] * m->brick.cells[2]);
}

int mesh_fft_create(struct ctx *ctx, struct mesh *m)
{
    struct mesh_parts *p = m->parts;
    const int64_t *cells = m->brick.cells;
    int64_t half = cells[0] / 2 + 1, kx = own(p, half, 0);
    int64_t ky = own(p, cells[1], 1);
    m->mode_first[0] = mesh_cut(half, p->dims[0], p->at[0]);
    m->mode_first[1] = mesh_cut(cells[1], p->dims[1], p->at[1]);
    m->mode_n[0] = kx;
    m->mode_n[1] = ky;
    size_t n[3] = {(size_t)(p->nz * p->ny * half),
                   (size_t)(p->nz * kx * cells[1]),
                   (size_t)(ky * kx * cells[2])};
    p->along_x = fft_lines_alloc(RE_IM * n[0]);
    p->along_y = fft_lines_alloc(RE_IM * n[1]);
    m->modes = fft_lines_alloc(RE_IM * n[2]);
    p->bytes += (double)(n[0] + n[1] + n[2]) * RE_IM * sizeof(double);
    int status = 0;
    if (!p->along_x || !p->along_y || !m->modes)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the modes of a mesh");
    if (status == 0)
        status =
            fft_lines_create(ctx, (size_t)cells[0], (size_t)(p->nz * p->ny),
                             FFT_LINES_REAL, &p->fft[0]);
    if (status == 0)
        status = fft_lines_create(ctx, (size_t)cells[1], (size_t)(p->nz * kx),
                                  FFT_LINES_COMPLEX, &p->fft[1]);
    if (status == 0)
        status = fft_lines_create(ctx, (size_t)cells[2], (size_t)(ky * kx),
                                  FFT_LINES_COMPLEX, &p->fft[2]);
    TRY(comm_agree(ctx, status));
    TRY(connect(ctx, m, 0, p->nz, half, cells[1]));
    return connect(ctx, m, 1, kx, cells[1], cells[2]);
}

void mesh_fft_destroy(struct mesh_parts *p)
{
    for (int d = 0; d < 3; d++)
        fft_lines_destroy(p->fft[d]);
    mesh_messages_free(&p->turn[0]);
    mesh_messages_free(&p->turn[1]);
    fft_lines_free(p->along_x);
    fft_lines_free(p->along_y);
}

/* The array `from` to `to`, of `rows` rows of length `whole`. */
static int turn_over(struct ctx *ctx, const struct turn *t, const double *from,
                     int64_t rows, int64_t whole, double *to)
{
    pack(t, from, whole, to);
    TRY(mesh_send(ctx, t->messages, 1));
    unpack(t, rows, whole, to);
    return 0;
}

static int turn_back(struct ctx *ctx, const struct turn *t, const double *from,
                     int64_t rows, int64_t whole, double *to)
{
    mesh_reverse(t->messages);
    int status = turn_over(ctx, t, from, rows, whole, to);
    mesh_reverse(t->messages);
    return status;
}

int mesh_fft_forward(struct ctx *ctx, struct mesh *m)
{
    struct mesh_parts *p = m->parts;
    const int64_t *cells = m->brick.cells;
    int64_t half = cells[0] / 2 + 1, kx = m->mode_n[0], ky = m->mode_n[1];
    struct turn first = {&p->turn[0], 1, {p->nz, p->ny}, half, p->dims[0]};
    struct turn second = {&p->turn[1], 0, {p->nz, kx}, cells[1], p->dims[1]};
    fft_lines_forward(p->fft[0], p->lines[0], p->along_x);
    TRY(turn_over(ctx, &first, p->along_x, p->nz * kx, cells[1], p->along_y));
    fft_lines_forward(p->fft[1], NULL, p->along_y);
    TRY(turn_over(ctx, &second, p->along_y, ky * kx, cells[2], m->modes));
    fft_lines_forward(p->fft[2], NULL, m->modes);
    return 0;
}

int mesh_fft_back(struct ctx *ctx, struct mesh *m, double *lines)
{
    struct mesh_parts *p = m->parts;
    const int64_t *cells = m->brick.cells;
    int64_t half = cells[0] / 2 + 1, kx = m->mode_n[0], ky = m->mode_n[1];
    struct turn first = {&p->turn[1], 0, {ky, kx}, cells[2], p->dims[1]};
    struct turn second = {&p->turn[0], 1, {p->nz, kx}, cells[1], p->dims[0]};
    fft_lines_back(p->fft[2], m->modes, NULL);
    TRY(turn_back(ctx, &first, m->modes, p->nz * kx, cells[1], p->along_y));
    fft_lines_back(p->fft[1], p->along_y, NULL);
    TRY(turn_back(ctx, &second, p->along_y, p->nz * p->ny, half, p->along_x));
    fft_lines_back(p->fft[0], p->along_x, lines);
    return 0;
}
