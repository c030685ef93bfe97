/* team_cuda.h: several small stores on one card, whose waiting calls run in one
 * launch for all.
 *
 * A launch takes longer than what a thousand particles need of a card. The runs
 * of a team (struct device) stand at the same point of a step when one of them
 * has to wait: then each that has queued the same calls notes what it would
 * launch, kernel after kernel, and each kernel is launched once, layer z of the
 * grid with the arguments of store z. Who has queued something else, or notes
 * another kernel or grid, goes alone; but a rebuild that only some have does
 * not keep them from what follows (team_calls_cuda.cu). Each store's numbers
 * are those it has alone, to the last bit.
 *
 * How a kernel joins:
 * - Its text is a __device__ function of its arguments that knows nothing of
 *   blockIdx.z, gridDim.z; kernel_of<text, 1>() makes both its kernels.
 *   kernel_of<text, JOINS_LOOSELY>(): stores may have grids of different width,
 *   since threads too many do nothing.
 * - cuda_run(s, name, kernel, grid, arguments...) launches or notes it.
 * - What the host waits for goes to *s->result by cuda_send(). Nothing else of
 *   a call (enum step_kind) may use the stream, and no array may grow.
 * - What is not queued is right, but alone.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_TEAM_CUDA_H
#define WARPDECK_KERNELS_MD_TEAM_CUDA_H

#include "kernels/md/store_cuda.h"

#define cuda_team_join MD_NAME(cuda_team_join)
#define cuda_team_leave MD_NAME(cuda_team_leave)
#define cuda_team_run MD_NAME(cuda_team_run)
#define cuda_team_note MD_NAME(cuda_team_note)
#define cuda_team_place MD_NAME(cuda_team_place)
#define cuda_wait_for_result MD_NAME(cuda_wait_for_result)
#define cuda_send MD_NAME(cuda_send)
#define cuda_shape_cells MD_NAME(cuda_shape_cells)
#define cuda_sort_bits MD_NAME(cuda_sort_bits)
#define cuda_launch_keys MD_NAME(cuda_launch_keys)
#define cuda_launch_order MD_NAME(cuda_launch_order)
#define cuda_launch_neighbors MD_NAME(cuda_launch_neighbors)
#define cuda_own_place MD_NAME(cuda_own_place)
#define cuda_reserve_starts MD_NAME(cuda_reserve_starts)
#define cuda_launch_starts MD_NAME(cuda_launch_starts)
#define cuda_sort_keys MD_NAME(cuda_sort_keys)
#define cuda_count_copies MD_NAME(cuda_count_copies)
#define cuda_ready_copies MD_NAME(cuda_ready_copies)
#define cuda_launch_copies MD_NAME(cuda_launch_copies)
#define cuda_launch_copy_keys MD_NAME(cuda_launch_copy_keys)
#define cuda_launch_copy_order MD_NAME(cuda_launch_copy_order)
#define cuda_list_is_built MD_NAME(cuda_list_is_built)
#define cuda_ready_list MD_NAME(cuda_ready_list)
#define cuda_list_had_room MD_NAME(cuda_list_had_room)

/* ---- kernels ---- */

/* A kernel's arguments, as they stand in the table of a team. */
template <class... A> struct team_arguments;

template <> struct team_arguments<> {
    template <auto TEXT, class... B>
    __device__ __forceinline__ void call(const B &...before) const
    {
        TEXT(before...);
    }
};

template <class A, class... B> struct team_arguments<A, B...> {
    A first;
    team_arguments<B...> rest;

    template <auto TEXT, class... C>
    __device__ __forceinline__ void call(const C &...before) const
    {
        rest.template call<TEXT>(before..., first);
    }
};

static inline void team_pack(team_arguments<> *)
{
}

template <class A, class... B>
static inline void team_pack(team_arguments<A, B...> *to, A first, B... rest)
{
    to->first = first;
    team_pack(&to->rest, rest...);
}

template <class T> struct team_value { /* of a parameter */
    typedef T type;
};
template <class T> struct team_value<const T &> {
    typedef T type;
};

template <auto TEXT, int THREADS, int AT_ONCE, class... A>
static __global__ void __launch_bounds__(THREADS, AT_ONCE) alone(A... arguments)
{
    TEXT(arguments...);
}

/* Of small systems: more blocks at once than four gain nothing, and registers
 * are needed for what a kernel alone reads from constants. */
template <auto TEXT, int THREADS, int AT_ONCE, class Arguments>
static __global__ void __launch_bounds__(THREADS, AT_ONCE ? AT_ONCE : 4)
    joint(const Arguments *__restrict__ table)
{
    table[blockIdx.z].template call<TEXT>();
}

/* The joint kernel of n stores, their arguments in memory of the card. */
typedef void (*team_launcher)(const void *table, dim3 grid, unsigned n,
                              cudaStream_t stream);

template <auto TEXT, int THREADS, int AT_ONCE, class Arguments>
static void launch_joint(const void *table, dim3 grid, unsigned n,
                         cudaStream_t stream)
{
    grid.z = n;
    LAUNCH((joint<TEXT, THREADS, AT_ONCE, Arguments>), grid, THREADS, 0, stream,
           (const Arguments *)table);
}

/* Of kernel_of(): where stores may have grids of different width, of which the
 * widest is right for all. */
enum { JOINS_LOOSELY = 2 };

/* joint: NULL, stores of a team never launch it. */
template <class... A> struct team_kernel {
    int threads;
    void (*alone)(A...);
    team_launcher joint;
    int loose;
};

template <auto TEXT, int JOINS, int AT_ONCE, int THREADS, class... P>
static constexpr auto make_kernel(void (*)(P...))
{
    team_kernel<typename team_value<P>::type...> k = {
        THREADS, alone<TEXT, THREADS, AT_ONCE, typename team_value<P>::type...>,
        NULL, JOINS == JOINS_LOOSELY};
    if constexpr (JOINS != 0)
        k.joint = launch_joint<TEXT, THREADS, AT_ONCE,
                               team_arguments<typename team_value<P>::type...>>;
    return k;
}

/* The kernels of a text, by blocks of so many threads, of which so many are at
 * once on a multiprocessor at least. */
template <auto TEXT, int JOINS, int AT_ONCE = 0, int THREADS = MD_THREADS>
static constexpr auto kernel_of(void)
{
    return make_kernel<TEXT, JOINS, AT_ONCE, THREADS>(TEXT);
}

/* [many][fshift][want][halo] of what kernel<many, fshift, want, halo>() makes.
 */
#define PAIR_KERNELS(kernel)                                               \
    {                                                                      \
        {PAIR_KERNELS_OF_(kernel, 0, 0), PAIR_KERNELS_OF_(kernel, 0, 1)},  \
        {                                                                  \
            PAIR_KERNELS_OF_(kernel, 1, 0), PAIR_KERNELS_OF_(kernel, 1, 1) \
        }                                                                  \
    }
#define PAIR_KERNELS_OF_(kernel, many, fshift)                            \
    {                                                                     \
        {kernel<many, fshift, 0, 0>(), kernel<many, fshift, 0, 1>()},     \
            {kernel<many, fshift, 1, 0>(), kernel<many, fshift, 1, 1>()}, \
        {                                                                 \
            kernel<many, fshift, 2, 0>(), kernel<many, fshift, 2, 1>()    \
        }                                                                 \
    }

/* Note this launch for the store, whose s->notes is not NULL. */
int cuda_team_note(struct md_store *s, const char *name, team_launcher joint,
                   int loose, dim3 grid, const void *arguments, size_t bytes);

template <class... A>
static int cuda_run(struct md_store *s, const char *name,
                    const team_kernel<A...> &kernel, dim3 grid,
                    typename team_value<A>::type... arguments)
{
    if (s->notes) {
        team_arguments<A...> all;
        team_pack(&all, arguments...);
        return cuda_team_note(s, name, kernel.joint, kernel.loose, grid, &all,
                              sizeof all);
    }
    LAUNCH(kernel.alone, grid, (unsigned)kernel.threads, 0, s->device->stream,
           arguments...);
    return cuda_status(s->ctx, cudaGetLastError(), name);
}

/* For a thread a particle; and one a copy, of which stores of a team may have
 * more or fewer. */
static inline dim3 cuda_own_blocks(const struct md_store *s)
{
    return dim3(cuda_blocks(s->view.n_own, MD_THREADS));
}

static inline dim3 cuda_copy_blocks(const struct md_store *s)
{
    return dim3(cuda_blocks(s->view.n_halo, MD_THREADS));
}

/* ---- teams ---- */

/* The store becomes one of its device's team, if it has one. */
int cuda_team_join(struct md_store *s);
void cuda_team_leave(struct md_store *s);
/* Run what waits in this store together with those others that wait for the
 * same: *n is how many it were. 0 or 1: nothing was done. */
int cuda_team_run(struct md_store *s, unsigned *n);
/* Bring so many bytes of the card, a multiple of 4, to a place in s->result, in
 * stream order. */
int cuda_send(struct md_store *s, void *to, const void *from, size_t bytes);
/* Where a kernel may leave on the card what is to go there, of a store that
 * takes notes; else NULL. */
void *cuda_team_place(struct md_store *s, void *to, size_t bytes);
/* Wait until what was queued is in s->result, of a store in a team or not. */
int cuda_wait_for_result(struct md_store *s);

/* As cuda_ask_ahead() and cuda_ask(), of sums that several may want of one
 * point of a step: *asked counts them, and one call finds them for all. After
 * the second they are in s->result, unless it fails. */
static inline void cuda_ask_sums_ahead(struct md_store *s, int *asked,
                                       enum step_kind kind)
{
    if ((*asked)++ == 0)
        cuda_do(s, {kind, 0, 0, NULL});
}

static inline int cuda_ask_sums(struct md_store *s, int *asked,
                                enum step_kind kind)
{
    if (*asked > 0)
        --*asked;
    else
        cuda_do(s, {kind, 0, 0, NULL});
    cuda_settle(s);
    TRY(s->failed);
    return cuda_wait_for_result(s);
}

/* ---- sort_cuda.cu, copies_cuda.cu, halo_cuda.cu, list_cuda.cu: rebuilds,
 * whose parts stores of a team do at the same time ---- */

/* Where particles or copies are sorted: n keys each; those of one store begin
 * at `below`. */
struct sorting_place {
    uint32_t *key, *key_out, *order, *order_out, below;
};

/* The store's own, ARRAY_KEY and so on. */
struct sorting_place cuda_own_place(const struct md_store *s);
/* The cells of a store, and room for where they start; their number. */
int cuda_shape_cells(struct md_store *s, uint32_t *n);
int cuda_reserve_starts(struct md_store *s, enum md_array start, uint32_t *n);
/* Sort n keys of this store alone, and their order with them; and where each of
 * its cells starts among n sorted keys (keys beyond the last are left out). */
int cuda_sort_keys(struct md_store *s, struct sorting_place at, size_t n);
int cuda_launch_starts(struct md_store *s, struct sorting_place at, size_t n,
                       enum md_array start);
/* Bits of keys below n. */
int cuda_sort_bits(uint32_t n);
/* Keys of so many slots; and once they are sorted, the order of particles. */
int cuda_launch_keys(struct md_store *s, struct sorting_place at,
                     uint32_t slots);
int cuda_launch_order(struct md_store *s, struct sorting_place at,
                      uint32_t slots);
/* Copies that each own particle is going to have, and in s->result all of them;
 * room for so many, which are s->view.n_halo from now on; who they are, as
 * ARRAY_RECORDS, with place[i] - below copies of those before particle i; their
 * cells; and once these are sorted, their places. */
int cuda_count_copies(struct md_store *s, uint32_t *count);
int cuda_ready_copies(struct md_store *s);
int cuda_launch_copies(struct md_store *s, const uint32_t *place,
                       uint32_t below);
int cuda_launch_copy_keys(struct md_store *s, const struct halo_record *from,
                          struct sorting_place at);
int cuda_launch_copy_order(struct md_store *s, const struct halo_record *from,
                           struct sorting_place at);
/* Room for the list of copies; and both lists with the rows there are.
 * cuda_list_had_room(): these were enough. */
int cuda_ready_list(struct md_store *s);
int cuda_launch_neighbors(struct md_store *s);
int cuda_list_had_room(const struct md_store *s);
/* What follows then. */
int cuda_list_is_built(struct md_store *s);

#endif
