/* store_cuda.cu: memory of the store, particles in and out, reductions. */
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/mesh_cuda.h"
#include "kernels/md/team_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/md/wrap.h"

int cuda_reserve(struct md_store *s, enum md_array which, size_t n, size_t size,
                 const char *what)
{
    struct device_array *a = &s->array[which];
    if (n * size > a->bytes)
        s->queue.epoch++;
    return cuda_grow(s->ctx, &a->p, &a->bytes, n * size, what);
}

void cuda_set_view(struct md_store *s)
{
    struct md_view *m = &s->view;
    m->stride = s->capacity;
    m->x = ARRAY(s, ARRAY_X, state);
    m->v = ARRAY(s, ARRAY_V, state);
    m->f = ARRAY(s, ARRAY_F, scalar);
    m->moved = ARRAY(s, ARRAY_MOVED, float);
    m->id = ARRAY(s, ARRAY_ID, int64_t);
    m->image = ARRAY(s, ARRAY_IMAGE, int32_t);
    m->species = ARRAY(s, ARRAY_SPECIES, int32_t);
    m->charge = ARRAY(s, ARRAY_CHARGE, scalar);
    m->pair = ARRAY(s, ARRAY_PAIR, struct pair_position);
    m->terms = ARRAY(s, ARRAY_TERMS, struct pair_terms);
    m->mass = ARRAY(s, ARRAY_MASS, double);
    m->inverse_mass = ARRAY(s, ARRAY_INVERSE_MASS, double);
    m->groups = ARRAY(s, ARRAY_GROUPS, struct md_group);
    m->n_groups = s->setup.outer ? s->setup.outer->n_groups : 0;
}

/* Spread `n` columns of `width` bytes over a new stride, from the last, so that
 * none is overwritten before it has moved. */
static int spread_columns(struct md_store *s, enum md_array which, size_t size,
                          size_t old_stride, size_t stride, size_t n)
{
    struct device_array fresh = {NULL, 0}, *a = &s->array[which];
    TRY(cuda_grow(s->ctx, &fresh.p, &fresh.bytes, 3 * stride * size,
                  "particles"));
    for (size_t d = 0; d < 3 && n > 0; d++)
        CUDA_TRY(s->ctx,
                 cudaMemcpyAsync((char *)fresh.p + d * stride * size,
                                 (char *)a->p + d * old_stride * size, n * size,
                                 cudaMemcpyDeviceToDevice, s->device->stream));
    TRY(cuda_release(s->ctx, a->p));
    *a = fresh;
    return 0;
}

int cuda_reserve_own(struct ctx *ctx, struct md_store *s, size_t n)
{
    if (n <= s->capacity)
        return 0;
    if (n >= UINT32_MAX / 2)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%zu particles on one card are too many; use more ranks",
                    n);
    size_t old = s->capacity, fresh = n + n / 16 + 256;
    fresh = (fresh + 63) / 64 * 64; /* columns begin on full lines */
    struct {
        enum md_array which;
        size_t size;
    } columns[] = {{ARRAY_X, sizeof(state)},
                   {ARRAY_V, sizeof(state)},
                   {ARRAY_F, sizeof(scalar)},
                   {ARRAY_MOVED, sizeof(float)},
                   {ARRAY_IMAGE, sizeof(int32_t)}};
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        TRY(spread_columns(s, columns[k].which, columns[k].size, old, fresh,
                           s->n_slots));
    TRY(cuda_reserve(s, ARRAY_SORTED, 3 * fresh, sizeof(state), "particles"));
    TRY(cuda_reserve(s, ARRAY_ID, fresh, sizeof(int64_t), "particles"));
    TRY(cuda_reserve(s, ARRAY_SPECIES, fresh, sizeof(int32_t), "particles"));
    TRY(cuda_reserve(s, ARRAY_PAIR, fresh, sizeof(struct pair_position),
                     "particles"));
    if (s->setup.charged)
        TRY(cuda_reserve(s, ARRAY_CHARGE, fresh, sizeof(scalar), "particles"));
    if (s->setup.deterministic)
        TRY(cuda_reserve_fixed(s, fresh));
    s->capacity = fresh;
    cuda_set_view(s);
    return 0;
}

/* ---- in ---- */

static __global__ void scatter_records(struct md_view m,
                                       const struct moving_record *from,
                                       uint32_t n, uint32_t first)
{
    uint32_t k = thread_index();
    if (k >= n)
        return;
    uint32_t i = first + k;
    const struct md_particle *p = &from[k].p;
    m.id[i] = p->id;
    m.species[i] = p->species;
    set_charge(m, i, p->charge);
    for (int d = 0; d < 3; d++) {
        m.x[d * m.stride + i] = (state)(p->position[d] - m.state_origin[d]);
        m.v[d * m.stride + i] = (state)p->velocity[d];
        m.image[d * m.stride + i] = p->image[d];
    }
}

static const size_t RECORDS_AT_ONCE = 1 << 18;

int cuda_insert(struct ctx *ctx, struct md_store *s,
                const struct md_particle *p, size_t n)
{
    cuda_settle(s);
    cuda_mesh_forget(s);
    TRY(cuda_reserve_own(ctx, s, s->n_slots + n));
    size_t piece = n < RECORDS_AT_ONCE ? n : RECORDS_AT_ONCE;
    if (n == 0)
        return 0;
    struct moving_record *records =
        (struct moving_record *)malloc(piece * sizeof *records);
    if (!records)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu particles", n);
    int status = cuda_reserve(s, ARRAY_RECORDS, piece, sizeof *records,
                              "particles on their way");
    for (size_t done = 0; status == 0 && done < n; done += piece) {
        size_t k = n - done < piece ? n - done : piece;
        for (size_t q = 0; q < k; q++)
            records[q].p = p[done + q];
        struct moving_record *to =
            ARRAY(s, ARRAY_RECORDS, struct moving_record);
        status = cuda_to_device(ctx, s->device, to, records, k * sizeof *to);
        if (status != 0)
            break;
        LAUNCH(scatter_records, cuda_blocks(k, MD_THREADS), MD_THREADS, 0,
               s->device->stream, s->view, to, (uint32_t)k, s->n_slots);
        status = cuda_status(ctx, cudaGetLastError(), "scatter_records");
        s->n_slots += (uint32_t)k;
    }
    free(records);
    return status;
}

/* ---- out ---- */

static __global__ void gather_records(struct md_view m,
                                      struct moving_record *to, uint32_t first,
                                      uint32_t n)
{
    uint32_t k = thread_index();
    if (k >= n)
        return;
    uint32_t i = first + k;
    struct moving_record r;
    r.p.charge = charge_of(m, i);
    r.p.id = m.id[i];
    r.p.species = m.species[i];
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        r.p.position[d] = (double)m.x[at] + m.state_origin[d];
        r.p.velocity[d] = (double)m.v[at];
        r.p.image[d] = m.image[at];
        r.force[d] = (double)m.f[at];
    }
    wrap_position(r.p.position, m.box_lo, m.box_length, m.tilt, r.p.image);
    to[k] = r;
}

static int gather_piece(struct md_store *s, struct moving_record *host,
                        size_t first, size_t n)
{
    struct moving_record *from = ARRAY(s, ARRAY_RECORDS, struct moving_record);
    LAUNCH(gather_records, cuda_blocks(n, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, from, (uint32_t)first, (uint32_t)n);
    CUDA_TRY_LAUNCH(s->ctx, "gather_records");
    return cuda_to_host(s->ctx, s->device, host, from, n * sizeof *host);
}

void cuda_gather(const struct md_store *store, struct md_particle *out,
                 double (*force)[3])
{
    /* The records' scratch belongs to the store; its content does not change.
     */
    struct md_store *s = const_cast<struct md_store *>(store);
    /* Those that were inserted and not sorted yet, as well. */
    size_t n = s->n_leavers > 0 ? s->view.n_own : s->n_slots;
    size_t piece = n < RECORDS_AT_ONCE ? n : RECORDS_AT_ONCE;
    cuda_settle(s);
    if (n == 0 || s->failed != 0)
        return;
    struct moving_record *host =
        (struct moving_record *)malloc(piece * sizeof *host);
    if (!host) {
        s->failed =
            FAIL(s->ctx, STATUS_MEMORY, "no memory to gather particles");
        return;
    }
    int status = cuda_reserve(s, ARRAY_RECORDS, piece, sizeof *host,
                              "particles on their way");
    for (size_t done = 0; status == 0 && done < n; done += piece) {
        size_t k = n - done < piece ? n - done : piece;
        status = gather_piece(s, host, done, k);
        for (size_t q = 0; status == 0 && q < k; q++) {
            out[done + q] = host[q].p;
            for (int d = 0; force && d < 3; d++)
                force[done + q][d] = host[q].force[d];
        }
    }
    free(host);
    if (status != 0)
        s->failed = status;
}

/* ---- reductions ---- */

/* One block for each value: partial sums in a fixed order, so that the result
 * does not depend on timing. */
static __device__ __forceinline__ void
reduce_partial(const double *partial, uint32_t n, int greatest, double *result)
{
    __shared__ double shared[32];
    double value =
        reduce_column(partial + (size_t)blockIdx.x * n, n, greatest, shared);
    if (threadIdx.x == 0)
        result[blockIdx.x] = value;
}

int cuda_reserve_sums(struct md_store *s)
{
    size_t blocks = cuda_blocks(s->view.n_own, MD_THREADS);
    TRY(cuda_reserve(s, ARRAY_PARTIAL, blocks * MD_REDUCED, sizeof(double),
                     "sums"));
    return cuda_reserve(s, ARRAY_RESULT, 2 * MD_REDUCED, sizeof(double),
                        "sums");
}

static int reduce_to(struct md_store *s, int n_values, uint32_t n_blocks,
                     int greatest, double *to)
{
    return cuda_run(s, "reduce_partial", kernel_of<reduce_partial, 1, 0, 256>(),
                    dim3((unsigned)n_values), ARRAY(s, ARRAY_PARTIAL, double),
                    n_blocks, greatest, to);
}

int cuda_launch_reduce(struct md_store *s, int n_values, uint32_t n_blocks,
                       int greatest)
{
    return reduce_to(s, n_values, n_blocks, greatest,
                     ARRAY(s, ARRAY_RESULT, double));
}

int cuda_reduce_and_send(struct md_store *s, int n_values, uint32_t n_blocks,
                         int greatest, double *to)
{
    size_t bytes = (size_t)n_values * sizeof *to;
    double *place = (double *)cuda_team_place(s, to, bytes);
    if (place)
        return reduce_to(s, n_values, n_blocks, greatest, place);
    TRY(cuda_launch_reduce(s, n_values, n_blocks, greatest));
    return cuda_send(s, to, s->array[ARRAY_RESULT].p, bytes);
}

int cuda_reduce(struct ctx *ctx, struct md_store *s, int n_values,
                uint32_t n_blocks, int greatest, double *out)
{
    TRY(cuda_launch_reduce(s, n_values, n_blocks, greatest));
    return cuda_to_host(ctx, s->device, out, s->array[ARRAY_RESULT].p,
                        (size_t)n_values * sizeof *out);
}
