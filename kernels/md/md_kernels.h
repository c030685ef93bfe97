/* md_kernels.h: what a backend must provide for molecular dynamics.
 *
 * A store holds the particles of one rank in the layout its machine likes
 * (clusters of SIMD width on the CPU), with the halo copies and the neighbor
 * list. The solver speaks to it in whole-store verbs and in md_particle records
 * and never sees the layout. No call here is collective; who sends what to whom
 * is the business of src/domain/halo.
 *
 * Order of calls in a step without redistribution:
 *     kick_drift, pack_halo (send), force_own, unpack_halo, force_halo,
 *     force_late, kick
 * and in one with redistribution:
 *     kick_drift, extract_leavers (migrate), insert, sort, select_halo,
 *     pack_halo (send), accept_halo, build_list, force_own, force_halo,
 *     force_late, kick
 * With setup.half, pack_forces (send back) follows force_halo and add_forces
 * follows force_late.
 */
#ifndef WARPDECK_KERNELS_MD_KERNELS_H
#define WARPDECK_KERNELS_MD_KERNELS_H

#include "kernels/md/md_types.h"

struct md_kernels {
    const char *name; /* "double", "mixed", "single" */

    int (*create)(struct ctx *ctx, const struct md_setup *setup,
                  struct md_store **out);
    void (*destroy)(struct md_store *s);
    size_t (*count)(const struct md_store *s); /* own particles */
    void (*counters)(const struct md_store *s, struct md_counters *out);

    /* ---- whole content ---- */
    /* Add n particles (all inside this rank's block). Forces become undefined
     * until the next force call. Errors: STATUS_MEMORY. */
    int (*insert)(struct ctx *ctx, struct md_store *s,
                  const struct md_particle *p, size_t n);
    /* Copy all own particles, count() records; positions wrapped into the box.
     * force: NULL or [count()][3], in the same order. */
    void (*gather)(const struct md_store *s, struct md_particle *out,
                   double (*force)[3]);

    /* All own particles, count() of them, in the order of their slots; between
     * two steps (nothing inserted that is not sorted). Errors: STATUS_MEMORY.
     * The store is then brought back bit by bit: into an empty one insert these
     * in this order, each at its `listed` position; sort, halo and build_list()
     * as ever; then put_slots(); and refresh halo and forces. Both NULL where a
     * backend cannot do that. */
    int (*take_slots)(struct ctx *ctx, const struct md_store *s,
                      struct md_slot *out);
    /* Positions, velocities and ways of the same particles in the same order;
     * STATUS_INTERNAL where the order is another. */
    int (*put_slots)(struct ctx *ctx, struct md_store *s,
                     const struct md_slot *in, size_t n);

    /* ---- redistribution ---- */
    /* Wrap positions into the box (counting images) and take out every particle
     * that is no longer in this rank's block; *out (owned by the store, valid
     * until the next call) has *n records. */
    int (*extract_leavers)(struct ctx *ctx, struct md_store *s,
                           const struct md_particle **out, size_t *n);
    /* Sort own particles into the store's layout. */
    int (*sort)(struct ctx *ctx, struct md_store *s);
    /* For each channel choose the particles within setup.halo_radius of its
     * block, and keep the choice for pack_halo(). counts[c]: how many. */
    int (*select_halo)(struct ctx *ctx, struct md_store *s, int n_channels,
                       const struct md_channel *channels, size_t *counts);
    /* Bytes of one packed record: with_species = 1 at a redistribution. */
    size_t (*halo_record_bytes)(int with_species);
    /* Write the chosen particles' positions (and species) channel by channel,
     * back to back. */
    void (*pack_halo)(struct md_store *s, int with_species, void *buffer);
    /* Take n received records (all channels of all peers, back to back) as the
     * new halo; fixes their order for unpack_halo(). */
    int (*accept_halo)(struct ctx *ctx, struct md_store *s, size_t n,
                       const void *buffer);
    /* New positions for the same halo copies, in the same order. */
    void (*unpack_halo)(struct md_store *s, const void *buffer);
    /* All of that without messages, where every channel leads to this rank: in
     * place of select_halo(), pack_halo() and accept_halo(), then of pack and
     * unpack of positions, extras (with setup.eam) and values. All NULL in a
     * backend that makes no copies itself. */
    int (*copy_own)(struct ctx *ctx, struct md_store *s, int n_channels,
                    const struct md_channel *channels);
    void (*move_copies)(struct md_store *s);
    void (*copy_extra)(struct md_store *s);
    void (*copy_values)(struct md_store *s, enum md_value what);
    /* The ids of the own particles, count() of them, in the order of slots. */
    void (*ids)(const struct md_store *s, int64_t *out);
    /* The terms that this rank computes, each once (src/domain/topology.h):
     * after accept_halo(), before build_list(). Ids are looked up among own
     * particles and copies; special pairs are taken out of the pair list and
     * scaled. In the order of kinds, and the caller's: they must stay until the
     * next call. A particle that is neither own nor near is
     * STATUS_LOST_PARTICLES, with the term. Both NULL in a backend without
     * terms. */
    int (*set_terms)(struct ctx *ctx, struct md_store *s,
                     const struct md_term *terms, size_t n);
    /* The same terms once more, whose particles have other slots now. May be
     * NULL: then set_terms() is called each time. */
    int (*find_terms)(struct ctx *ctx, struct md_store *s);
    /* Pair list of radius setup.list_radius; resets displacements. */
    int (*build_list)(struct ctx *ctx, struct md_store *s);

    /* ---- forces ---- */
    /* Forces in three parts, so that the first hides the exchange of copies and
     * the last the way back of forces on them: force_own() may touch no copy
     * (it clears the forces and does pairs that have none near); force_halo()
     * needs fresh copies and does the pairs that have; force_late() touches no
     * copy and does the rest (NULL: there is none). Forces and sums are
     * complete after all. sums: NULL where energy and virial are not wanted;
     * the calls add to *sums. */
    void (*force_own)(struct md_store *s, struct md_sums *sums);
    void (*force_halo)(struct md_store *s, struct md_sums *sums);
    void (*force_late)(struct md_store *s, struct md_sums *sums);
    /* With setup.half. above[p]: how many of the n[p] records that peer p sent,
     * one peer's after the other's, are from above. */
    void (*count_above)(const struct md_store *s, int n_peers, const size_t *n,
                        size_t *above);
    /* After force_halo(), in the order of pack_halo() and with as many bytes as
     * for a position, the forces on those, to be added to the forces of the
     * chosen particles. All NULL in a backend without. */
    void (*pack_forces)(const struct md_store *s, void *buffer);
    void (*add_forces)(struct md_store *s, const void *buffer);
    /* What forces of pairs and from outside still owe to sums that were to come
     * later, and to on_wall. NULL: they never do. */
    void (*finish_sums)(struct md_store *s);

    /* ---- many-body forces, with setup.eam; NULL in a backend without ---- */
    /* Densities before the forces, in two parts as these: density_own() may
     * touch no copy, density_halo() needs fresh ones. Then copies are told what
     * their owner's density makes of them, one record each in the order of
     * pack_halo(), before force_halo(). Energies are added to sums, where that
     * is not NULL, here and not by the force calls. */
    void (*density_own)(struct md_store *s, struct md_sums *sums);
    void (*density_halo)(struct md_store *s, struct md_sums *sums);
    size_t (*extra_bytes)(void);
    void (*pack_extra)(const struct md_store *s, void *buffer);
    void (*unpack_extra)(struct md_store *s, const void *buffer);
    /* With setup.half these are about copies from above alone; and before them
     * the densities found here for such copies go to their owners as forces do,
     * of extra_bytes() each, and then densities are complete: density_finish()
     * does the rest of density_halo(). NULL in a backend without. */
    void (*pack_densities)(const struct md_store *s, void *buffer);
    void (*add_densities)(struct md_store *s, const void *buffer);
    void (*density_finish)(struct md_store *s, struct md_sums *sums);

    /* ---- charges, beyond pairs ---- */
    /* Charges of own particles onto the points of a brick (md_mesh.h), which is
     * cleared first: q times the weight. Errors: STATUS_MEMORY,
     * STATUS_LOST_PARTICLES for a particle that the brick does not hold. All of
     * these are NULL in a backend without charges. */
    int (*spread_charges)(struct ctx *ctx, struct md_store *s,
                          const struct md_brick *b, double *mesh);
    /* Add to the forces q times the field's components at the particles, with
     * the same weights. After force_halo(). */
    void (*gather_field)(struct md_store *s, const struct md_brick *b,
                         const double *const field[3]);
    /* All of that and what is between: modes, fields, forces; and, where sums
     * is not NULL, energy and virial of the modes, at once or with
     * finish_sums(). For one rank alone; NULL in a backend that leaves
     * transforms to src/domain/mesh. After force_halo(). */
    int (*mesh_forces)(struct ctx *ctx, struct md_store *s,
                       const struct md_whole_mesh *m, struct md_sums *sums);
    void (*charge_moments)(const struct md_store *s,
                           struct md_charge_moments *out);
    /* Add to the forces q (even + slope x), direction by direction. */
    void (*push_charges)(struct md_store *s, const double even[3],
                         const double slope[3]);
    /* Structure factors sum q exp(i k x) of own particles, re and im. */
    int (*wave_sums)(struct ctx *ctx, struct md_store *s,
                     const struct md_waves *w, double (*sums)[2]);
    /* Add to the forces q sum_k k (sin(k x) re - cos(k x) im) of field[k]. */
    int (*wave_forces)(struct ctx *ctx, struct md_store *s,
                       const struct md_waves *w, const double (*field)[2]);

    /* Both at once, of a rank that has the whole box: field[k] is twice
     * md_wave_influence() times the sum; sums as of mesh_forces(). fresh: waves
     * differ from those of the last call. May be NULL. */
    int (*wave_field)(struct ctx *ctx, struct md_store *s,
                      const struct md_waves *w, int fresh,
                      struct md_sums *sums);
    /* push_charges() along z by -per_dipole times the dipole, and this slope;
     * of such a rank. keep: the next charge_moments() gives the moments that
     * were found. May be NULL. */
    void (*push_slab)(struct md_store *s, double per_dipole, double slope,
                      int keep);

    /* ---- walls and fields; NULL in a backend without ---- */
    /* Add to the forces, after all others, and to sums; where these are
     * wanted, on_wall grows by the force on each face. */
    void (*outer_forces)(struct md_store *s, const struct md_outer *o,
                         struct md_sums *sums, double on_wall[MD_FACES]);
    /* After a drift: particles behind a wall are mirrored at it. Returns 0, or
     * the id of one that cannot be there. */
    int64_t (*reflect)(struct md_store *s, const struct md_outer *o);
    /* Give the particles of held groups of setup.outer their velocities. */
    void (*hold)(struct md_store *s);

    /* ---- motion ---- */
    /* v += a * dt_kick; x += v * dt_drift. Returns the greatest distance any
     * own particle has moved since build_list(), squared; NaN or infinity where
     * a position or velocity is not finite. */
    double (*kick_drift)(struct md_store *s, double dt_kick, double dt_drift);
    /* The same, begun: the next kick_drift() returns its result and does
     * nothing else. In between other stores of a team (struct device) may begin
     * theirs; this one is left alone. The others are the same of moments() and
     * kinetic_tensor(), which may be asked for more than once, and of
     * brownian_step(), reflect(), stretch() and shear() with the same
     * arguments. All NULL where calls return when the work is done. */
    void (*kick_drift_ahead)(struct md_store *s, double dt_kick,
                             double dt_drift);
    void (*moments_ahead)(struct md_store *s);
    void (*kinetic_tensor_ahead)(struct md_store *s);
    void (*stretch_ahead)(struct md_store *s, const struct md_stretch *m);
    void (*shear_ahead)(struct md_store *s, const struct md_shear *m);
    void (*brownian_step_ahead)(struct md_store *s, const struct md_bath *b,
                                double dt, uint64_t step,
                                const double weight[2]);
    void (*reflect_ahead)(struct md_store *s, const struct md_outer *o);
    void (*kick)(struct md_store *s, double dt_kick);
    void (*moments)(const struct md_store *s, struct md_moments *out);
    void (*scale_velocities)(struct md_store *s, double factor);
    /* v = decay * v + sqrt((1 - decay^2) kT / m) * normal(seed, RNG_LANGEVIN,
     * step, id): the exact Ornstein-Uhlenbeck step. kt in mass * velocity^2. A
     * backend that has work() adds what the kinetic energy grows by to that. */
    void (*ornstein_uhlenbeck)(struct md_store *s, double decay, double kt,
                               uint64_t step);
    /* kick() and ornstein_uhlenbeck() in one sweep, and this rank's kinetic
     * energies between the two and afterwards, without held particles. May be
     * NULL. */
    void (*kick_and_noise)(struct md_store *s, double dt_kick, double decay,
                           double kt, uint64_t step, double kinetic[2]);

    /* ---- baths by species and group; NULL in a backend without ---- */
    /* The same with the friction and temperature of each particle's bath. */
    void (*bath_step)(struct md_store *s, const struct md_bath *b, double dt,
                      uint64_t step);
    /* x += a dt / friction + sqrt(2 kT dt / (m friction)) (weight[0] R(step -
     * 1) + weight[1] R(step)), R(n) = normals(seed, RNG_BROWNIAN, n, id), one
     * weight 0 or both 1/2; held particles go on by their velocity. Returns
     * what kick_drift() does, and clears the forces as it does. */
    double (*brownian_step)(struct md_store *s, const struct md_bath *b,
                            double dt, uint64_t step, const double weight[2]);
    /* Of the own particles of group number `group`. */
    void (*group_moments)(const struct md_store *s, const struct md_outer *o,
                          int group, struct md_moments *out);
    /* How much ornstein_uhlenbeck(), bath_step() and dpd_kick() have made the
     * kinetic energy of all but held particles grow since the store was made,
     * beside what set_work() put in its place; in mass * velocity^2. NULL in a
     * backend that does not add it up: a card does, so that no step waits. */
    double (*work)(const struct md_store *s);
    void (*set_work)(struct md_store *s, double work);

    /* ---- dissipative particle dynamics; NULL in a backend without ---- */
    /* Find all pairs in range, with fresh copies, and draw their noise,
     * addressed by (seed, RNG_DPD, step, both ids); ids are below 2^32. Errors:
     * STATUS_MEMORY. */
    int (*dpd_pairs)(struct ctx *ctx, struct md_store *s,
                     const struct md_dpd *d);
    /* Their forces at the present velocities (velocities of copies as
     * unpack_values() got them last); and v += force / m dt of all but held
     * particles, with the growth of the kinetic energy, in mass * velocity^2,
     * or 0 where work() has it. */
    void (*dpd_forces)(struct md_store *s);
    double (*dpd_kick)(struct md_store *s, double dt);

    /* ---- a box that changes; all NULL in a backend that cannot ---- */
    /* Positions, and ways since build_list(), change in proportion to the box;
     * copies are undefined until fresh ones come. The pair list stays what it
     * was: whether it may miss a pair is for the caller to judge. */
    void (*set_box)(struct md_store *s, const struct md_geometry *box);
    /* The same within a step; returns what kick_drift() does, of ways measured
     * beside the change of the box. */
    double (*stretch)(struct md_store *s, const struct md_stretch *m);
    double (*shear)(struct md_store *s, const struct md_shear *m);
    /* The box has other edges that span the same lattice: b = b' + turns[0] a,
     * c = c' + turns[2] b + turns[1] a. Images are counted anew; set_box() is
     * due. */
    void (*relabel)(struct md_store *s, const int32_t turns[3]);
    /* v = after (before v + a dt_kick), direction by direction. */
    void (*kick_scaled)(struct md_store *s, const double before[3],
                        double dt_kick, const double after[3]);
    /* sum m v_a v_b: xx, yy, zz, xy, xz, yz; in mass * velocity^2. A backend
     * that has it fills md_sums.tensor, too. */
    void (*kinetic_tensor)(const struct md_store *s, double out[6]);

    /* ---- rigid bonds (the terms of that kind); NULL in a backend without --
     * Values of the particles that select_halo() chose, in the order of
     * pack_halo(), in double precision; and those that came for the copies. */
    void (*pack_values)(const struct md_store *s, enum md_value what,
                        double (*out)[3]);
    void (*unpack_values)(struct md_store *s, const double (*in)[3]);
    /* How many distances are fixed, those of a group where its first particle
     * is own; *joined: how many particles such groups have beside the first. */
    double (*rigid_count)(const struct md_store *s, double *joined);
    /* Each asks for fresh values of the copies. Keep in mind where the groups'
     * particles are (positions): after a change of the pair list. */
    void (*rigid_hold)(struct md_store *s);
    /* After a drift (positions): back to the fixed distances, velocities by the
     * way times per_time. *moved2 grows to the square of the longest way since
     * build_list(). Errors: STATUS_PHYSICS where a group is torn apart. */
    int (*rigid_place)(struct ctx *ctx, struct md_store *s, double per_time,
                       double tolerance, double *moved2);
    /* Begin it behind kick_drift_ahead(), where that helps and there are no
     * copies; the next rigid_place() waits for it. NULL: it never helps. */
    void (*rigid_place_ahead)(struct md_store *s, double per_time,
                              double tolerance);
    /* Take the velocities along the bonds out (velocities); apply = 0: only get
     * ready for rigid_sums(). */
    void (*rigid_stop)(struct md_store *s, int apply);
    /* After stretch(m) with before = 1 and a box that grew by these factors, or
     * velocities times m->after (dt_half = 0) (velocities): only the groups'
     * centers of mass take part in the change of the box, places and velocities
     * beside them are as if there had been none. */
    void (*rigid_unstretch)(struct md_store *s, const struct md_stretch *m,
                            const double grow[3]);
    /* Begin these, rigid_inner() and rigid_sums() (with the rigid_stop() before
     * it), behind other calls that wait, where that helps and there are no
     * copies. rigid_sums_ahead(): whether it has begun. NULL: never. */
    void (*rigid_unstretch_ahead)(struct md_store *s,
                                  const struct md_stretch *m,
                                  const double grow[3]);
    void (*rigid_inner_ahead)(struct md_store *s);
    int (*rigid_sums_ahead)(struct md_store *s);
    /* What groups add beside their centers (velocities), by directions: sum
     * m u^2, in mass * velocity^2, and d . f of places and forces. */
    void (*rigid_inner)(const struct md_store *s, double kinetic[3],
                        double virial[3]);
    /* After rigid_stop() (accelerations): add the virial of the bonds' forces.
     */
    void (*rigid_sums)(const struct md_store *s, struct md_sums *sums);

    /* ---- looking; at pairs with fresh copies of all ---- */
    /* Count pairs by distance: counts[channel * n_bins + bin] += 2 for a pair
     * of own particles, 1 for one with a halo copy; channel_of[si * n_species +
     * sj] is the histogram of a species pair or -1. range <= halo_radius. */
    int (*pair_histogram)(struct ctx *ctx, const struct md_store *s,
                          double range, int n_bins, const int *channel_of,
                          uint64_t *counts);
    /* The closest pair nearer than `distance`, if any (own-own and own-halo).
     */
    int (*closest_pair)(struct ctx *ctx, const struct md_store *s,
                        double distance, struct md_close_pair *out);
    /* For own particles in the order of gather(), between two steps: half of
     * sum r_a f_a over their pairs, xx, yy, zz. Of Lennard-Jones alone. NULL in
     * a backend without. Errors: STATUS_MEMORY. */
    int (*pair_virial)(struct ctx *ctx, const struct md_store *s,
                       double (*out)[3]);
    /* Terms of a kind, MD_TERM_BOND or MD_TERM_ANGLE, by length or by angle in
     * radians, between two steps: counts[type * (n_bins + 1) + bin] += 1 for
     * each own particle of a term, bin n_bins for what lies outside of [low,
     * high). NULL in a backend without terms. */
    void (*term_histogram)(const struct md_store *s, int kind, double low,
                           double high, int n_bins, uint64_t *counts);
    /* The first own particle with a non-finite position, velocity or force.
     * Returns 1 and fills *out, or 0. */
    int (*find_not_finite)(const struct md_store *s, struct md_particle *out);

    /* 0, or the failure of a call above that returns nothing (a card's kernel).
     * The solver asks once a step. NULL where there is no such failure. */
    int (*check)(struct ctx *ctx, struct md_store *s);

    /* Seconds that forces have taken so far, with setup.timed. NULL where the
     * calls return when the work is done, so that any clock tells. */
    double (*pair_seconds)(struct md_store *s);
    /* Of a force_own() or force_halo() that has just taken so many seconds,
     * those of terms along bonds; on a card the share that they have there in
     * some of the steps so far. NULL where nobody knows. */
    double (*terms_seconds)(struct md_store *s, double seconds);

    /* Bytes that a store of `own` particles and `copies` of others will hold at
     * most, were they spread evenly; of *setup only what has no particles. */
    double (*estimate)(const struct md_setup *setup, double own, double copies);
};

/* The CPU's tables (md_cpu.c, compiled once per precision). */
extern const struct md_kernels md_kernels_cpu_double;
extern const struct md_kernels md_kernels_cpu_mixed;
extern const struct md_kernels md_kernels_cpu_single;

#endif
