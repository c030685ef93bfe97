/* calls_cuda.h: what the .cu files of kernels/md call in one another. What the
 * functions of the table do is said in md_kernels.h.
 *
 * A part of store_cuda.h, which includes it.
 */
#ifndef WARPDECK_KERNELS_MD_CALLS_CUDA_H
#define WARPDECK_KERNELS_MD_CALLS_CUDA_H

/* ---- the table's functions, by file ---- */
#define cuda_insert MD_NAME(cuda_insert)
#define cuda_gather MD_NAME(cuda_gather)
#define cuda_extract_leavers MD_NAME(cuda_extract_leavers)
#define cuda_sort MD_NAME(cuda_sort)
#define cuda_take_slots MD_NAME(cuda_take_slots)
#define cuda_put_slots MD_NAME(cuda_put_slots)
#define cuda_note_listed MD_NAME(cuda_note_listed)
#define cuda_select_halo MD_NAME(cuda_select_halo)
#define cuda_halo_record_bytes MD_NAME(cuda_halo_record_bytes)
#define cuda_pack_halo MD_NAME(cuda_pack_halo)
#define cuda_accept_halo MD_NAME(cuda_accept_halo)
#define cuda_unpack_halo MD_NAME(cuda_unpack_halo)
#define cuda_reserve_halo MD_NAME(cuda_reserve_halo)
#define cuda_place_copies MD_NAME(cuda_place_copies)
#define cuda_build_list MD_NAME(cuda_build_list)
#define cuda_force_own MD_NAME(cuda_force_own)
#define cuda_force_halo MD_NAME(cuda_force_halo)
#define cuda_kick_drift MD_NAME(cuda_kick_drift)
#define cuda_kick_drift_ahead MD_NAME(cuda_kick_drift_ahead)
#define cuda_moments_ahead MD_NAME(cuda_moments_ahead)
#define cuda_ask_moments MD_NAME(cuda_ask_moments)
#define cuda_launch_wrap MD_NAME(cuda_launch_wrap)
#define cuda_launch_sort MD_NAME(cuda_launch_sort)
#define cuda_launch_list MD_NAME(cuda_launch_list)
#define cuda_launch_scale MD_NAME(cuda_launch_scale)
#define cuda_launch_noise MD_NAME(cuda_launch_noise)
#define cuda_kick MD_NAME(cuda_kick)
#define cuda_sum_moments MD_NAME(cuda_sum_moments)
#define cuda_scale_velocities MD_NAME(cuda_scale_velocities)
#define cuda_ornstein_uhlenbeck MD_NAME(cuda_ornstein_uhlenbeck)
#define cuda_pair_histogram MD_NAME(cuda_pair_histogram)
#define cuda_pair_virial MD_NAME(cuda_pair_virial)
#define cuda_closest_pair MD_NAME(cuda_closest_pair)
#define cuda_find_not_finite MD_NAME(cuda_find_not_finite)
#define cuda_reduce MD_NAME(cuda_reduce)
#define cuda_set_view MD_NAME(cuda_set_view)
#define cuda_reserve_own MD_NAME(cuda_reserve_own)
#define cuda_reserve_sums MD_NAME(cuda_reserve_sums)
#define cuda_launch_reduce MD_NAME(cuda_launch_reduce)
#define cuda_reduce_and_send MD_NAME(cuda_reduce_and_send)
#define cuda_message_on_card MD_NAME(cuda_message_on_card)
#define cuda_launch_unpack MD_NAME(cuda_launch_unpack)
#define cuda_launch_force MD_NAME(cuda_launch_force)
#define cuda_launch_kick MD_NAME(cuda_launch_kick)
#define cuda_launch_drift MD_NAME(cuda_launch_drift)
#define cuda_do MD_NAME(cuda_do)
#define cuda_do_now MD_NAME(cuda_do_now)
#define cuda_do_in_team MD_NAME(cuda_do_in_team)
#define cuda_launch_call MD_NAME(cuda_launch_call)
#define cuda_settle MD_NAME(cuda_settle)
#define cuda_drop_graphs MD_NAME(cuda_drop_graphs)
#define cuda_estimate MD_NAME(cuda_estimate)
#define cuda_launch_terms MD_NAME(cuda_launch_terms)
#define cuda_terms_add MD_NAME(cuda_terms_add)
#define cuda_sums_may_wait MD_NAME(cuda_sums_may_wait)
#define cuda_ask_kinetic MD_NAME(cuda_ask_kinetic)
#define cuda_kinetic_tensor_ahead MD_NAME(cuda_kinetic_tensor_ahead)
#define cuda_finish_sums MD_NAME(cuda_finish_sums)
#define cuda_kinetic_tensor MD_NAME(cuda_kinetic_tensor)

int cuda_insert(struct ctx *ctx, struct md_store *s,
                const struct md_particle *p, size_t n);
void cuda_gather(const struct md_store *s, struct md_particle *out,
                 double (*force)[3]);
int cuda_extract_leavers(struct ctx *ctx, struct md_store *s,
                         const struct md_particle **out, size_t *n);
int cuda_sort(struct ctx *ctx, struct md_store *s);
int cuda_take_slots(struct ctx *ctx, const struct md_store *s,
                    struct md_slot *out);
int cuda_put_slots(struct ctx *ctx, struct md_store *s,
                   const struct md_slot *in, size_t n);
int cuda_select_halo(struct ctx *ctx, struct md_store *s, int n_channels,
                     const struct md_channel *channels, size_t *counts);
size_t cuda_halo_record_bytes(int with_species);
void cuda_pack_halo(struct md_store *s, int with_species, void *buffer);
int cuda_accept_halo(struct ctx *ctx, struct md_store *s, size_t n,
                     const void *buffer);
void cuda_unpack_halo(struct md_store *s, const void *buffer);
/* Where kernels read a message of n bytes: on the card, in stream order. Room
 * is there for what accept_halo() has got. */
int cuda_message_on_card(struct md_store *s, const void *buffer, size_t n,
                         const void **out);
/* The room that accept_halo() needs for n copies; and s->view.n_halo records of
 * the card as the new ones. */
int cuda_reserve_halo(struct md_store *s, size_t n);
int cuda_place_copies(struct md_store *s, const struct halo_record *from);
int cuda_build_list(struct ctx *ctx, struct md_store *s);
void cuda_force_own(struct md_store *s, struct md_sums *sums);
void cuda_force_halo(struct md_store *s, struct md_sums *sums);
void cuda_finish_sums(struct md_store *s);
double cuda_kick_drift(struct md_store *s, double dt_kick, double dt_drift);
void cuda_kick_drift_ahead(struct md_store *s, double dt_kick, double dt_drift);
void cuda_moments_ahead(struct md_store *s);
void cuda_kinetic_tensor_ahead(struct md_store *s);
void cuda_kick(struct md_store *s, double dt_kick);
void cuda_sum_moments(const struct md_store *s, struct md_moments *out);
void cuda_kinetic_tensor(const struct md_store *s, double out[6]);
void cuda_scale_velocities(struct md_store *s, double factor);
void cuda_ornstein_uhlenbeck(struct md_store *s, double decay, double kt,
                             uint64_t step);
int cuda_pair_histogram(struct ctx *ctx, const struct md_store *s, double range,
                        int n_bins, const int *channel_of, uint64_t *counts);
int cuda_pair_virial(struct ctx *ctx, const struct md_store *s,
                     double (*out)[3]);
int cuda_closest_pair(struct ctx *ctx, const struct md_store *s,
                      double distance, struct md_close_pair *out);
int cuda_find_not_finite(const struct md_store *s, struct md_particle *out);

/* Room for n own particles in every column; content is kept. */
int cuda_reserve_own(struct ctx *ctx, struct md_store *s, size_t n);

/* Begin the way anew: keep where particles stand now, as the list is built. */
int cuda_note_listed(struct md_store *s);

/* Bring the view's pointers in line with the arrays. */
void cuda_set_view(struct md_store *s);

/* Room for what a step's sums need. */
int cuda_reserve_sums(struct md_store *s);

/* The same as cuda_reduce(), into ARRAY_RESULT on the card, in stream order;
 * or, of calls, from there to *to of s->result. */
int cuda_launch_reduce(struct md_store *s, int n_values, uint32_t n_blocks,
                       int greatest);
int cuda_reduce_and_send(struct md_store *s, int n_values, uint32_t n_blocks,
                         int greatest, double *to);

/* Reduce ARRAY_PARTIAL, n_values columns of n_blocks entries, by sums (or the
 * maximum where greatest = 1), into out[n_values] on the host. */
int cuda_reduce(struct ctx *ctx, struct md_store *s, int n_values,
                uint32_t n_blocks, int greatest, double *out);

/* ---- steps_cuda.cu: calls that are only queued ----
 *
 * Where graphs are on, calls wait until somebody needs what they do, and then
 * run as one graph. Each function of the table therefore begins with
 * cuda_settle(), unless it is such a call itself. */

/* Run the call, now or with those that follow. Failures go to s->failed. */
void cuda_do(struct md_store *s, struct step_call call);
/* The same of one that is another each time, so that a graph would gain
 * nothing: only stores of a team wait with it. */
void cuda_do_in_team(struct md_store *s, struct step_call call);
void cuda_do_now(struct md_store *s, struct step_call call);
/* Run what waits. */
void cuda_settle(struct md_store *s);
void cuda_drop_graphs(struct md_store *s);

/* A call whose result the host waits for: begun by a store of a team, so that
 * those of others run with it, and then, where it was not, queued and run. */
template <class Queue>
static inline void cuda_ask_ahead(struct md_store *s, int *asked, Queue queue)
{
    if (!s->team || s->view.n_own == 0 || s->failed != 0)
        return;
    queue();
    *asked = 1;
}

template <class Queue>
static inline void cuda_ask(struct md_store *s, int *asked, Queue queue)
{
    if (!*asked && s->failed == 0)
        queue();
    *asked = 0;
    cuda_settle(s);
}

/* The calls themselves: kernels and copies in stream order, nothing else. */
int cuda_launch_call(struct md_store *s, const struct step_call *c);
int cuda_launch_unpack(struct md_store *s, const void *buffer);
/* want: sums, too, on their way to s->result. */
int cuda_launch_force(struct md_store *s, int halo, int want);
int cuda_launch_kick(struct md_store *s, double dt_kick);
int cuda_launch_drift(struct md_store *s, double dt_kick, double dt_drift);
int cuda_launch_scale(struct md_store *s, double factor);
int cuda_launch_noise(struct md_store *s, double decay, double kt,
                      uint64_t step);
int cuda_ask_moments(struct md_store *s);
int cuda_ask_kinetic(struct md_store *s);
int cuda_launch_wrap(struct md_store *s);
int cuda_launch_sort(struct md_store *s);
int cuda_launch_list(struct md_store *s);

/* Whether copies come and go as messages. */
static inline int cuda_has_messages(const struct md_store *s)
{
    return !s->copies_here && (s->view.n_halo > 0 || s->n_send > 0);
}

/* Whether a rebuild of this store's list goes with those of others: it has the
 * whole box, so that nobody leaves and no copies come. */
static inline int cuda_keeps_all(const struct md_store *s)
{
    int all = s->team != NULL && s->queue.on && s->view.n_own > 0;
    return all && s->setup.whole && (!s->setup.tilted || s->copies_here) &&
           s->n_slots == s->view.n_own && s->n_leavers == 0 &&
           !cuda_has_messages(s);
}

/* Whether these may come with finish_sums(). */
int cuda_sums_may_wait(const struct md_store *s, const struct md_sums *sums);

double cuda_estimate(const struct md_setup *setup, double own, double copies);

/* ---- copies_cuda.cu: copies of own particles, made here ---- */
#define cuda_copy_own MD_NAME(cuda_copy_own)
#define cuda_move_copies MD_NAME(cuda_move_copies)
#define cuda_copy_extra MD_NAME(cuda_copy_extra)
#define cuda_copy_values MD_NAME(cuda_copy_values)
#define cuda_launch_choose MD_NAME(cuda_launch_choose)
#define cuda_launch_move_copies MD_NAME(cuda_launch_move_copies)
#define cuda_launch_copy_slopes MD_NAME(cuda_launch_copy_slopes)
#define cuda_launch_copy_values MD_NAME(cuda_launch_copy_values)

int cuda_copy_own(struct ctx *ctx, struct md_store *s, int n_channels,
                  const struct md_channel *channels);
void cuda_move_copies(struct md_store *s);
void cuda_copy_extra(struct md_store *s);
void cuda_copy_values(struct md_store *s, enum md_value what);
/* The launches of a step's calls. */
int cuda_launch_choose(struct md_store *s);
int cuda_launch_move_copies(struct md_store *s);
int cuda_launch_copy_slopes(struct md_store *s);
int cuda_launch_copy_values(struct md_store *s, int what);

/* ---- bonded_cuda.cu: after the pairs' forces ---- */

/* Add the forces of terms along bonds: of those among own particles, or of
 * those with a copy among them (halo = 1). want: sums, too, on their way to
 * s->result. */
int cuda_launch_terms(struct md_store *s, int halo, int want);
/* What has come of them. */
void cuda_terms_add(const double *out, struct md_sums *sums);

#endif
