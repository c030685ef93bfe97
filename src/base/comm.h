/* comm.h: the ranks of a run, and the few collective calls that the rest uses.
 *
 * This file is the home of <mpi.h> (comm_mpi.c); a build without MPI compiles
 * comm_serial.c instead, where the one rank talks to itself. All functions that
 * say "collective" must be called by every rank in the same order.
 */
#ifndef WARPDECK_BASE_COMM_H
#define WARPDECK_BASE_COMM_H

#include <stddef.h>
#include <stdint.h>

struct comm;
struct ctx;

/* Start MPI (once a process) and wrap its world. Prints and returns non-zero
 * where MPI cannot start. The caller owns *out; comm_finish() ends MPI. */
int comm_start(int *argc, char ***argv, struct comm **out);
void comm_finish(struct comm *comm);

/* Whether a launcher (mpirun, srun) started this process. */
int comm_launched(void);

/* One process without MPI that takes itself for rank 0 of `size`: for commands
 * that only print (size 1) and for plans of larger runs. Collectives answer at
 * once, as rank 0 alone would. Returns non-zero without memory. */
int comm_start_alone(int size, struct comm **out);

/* The same ranks on a channel of their own, for a thread beside the main one,
 * and its end; both collective. NULL is fine for the latter. */
int comm_duplicate(struct ctx *ctx, struct comm **out);
void comm_release(struct comm *comm);
/* The ranks that come with the same `group` (0 or more) among themselves, in
 * the same order; comm_release() ends it. Places on the host stay those among
 * all ranks. Collective. */
int comm_split(struct ctx *ctx, int group, struct comm **out);
/* Whether several threads may use channels of their own at the same time. */
int comm_takes_threads(const struct comm *comm);

/* The MPI communicator, as a `const MPI_Comm *`, for src/io; NULL without
 * MPI. */
const void *comm_handle(const struct comm *comm);

/* The end of a phase after which a rank may come with a failure that the others
 * do not know of: as comm_agree(), but the failed rank waits for them a few
 * seconds only. *alone = 1 where they did not come: they wait elsewhere for
 * this rank, no other collective call will return, and only comm_abort() can
 * end them. */
int comm_farewell(struct ctx *ctx, int status, int *alone);
/* This rank has failed where others wait for its messages, and can't tell them:
 * nothing collective is done here any more. All such calls return `status` at
 * once, so that the rank comes to comm_farewell(), where it is alone. Returns
 * `status`; nothing happens where that is 0. Exchanges that fail do so by
 * themselves. */
int comm_drop_out(struct ctx *ctx, int status);
/* End all ranks now. main() only. */
void comm_abort(struct comm *comm, int exit_status);

int comm_rank(const struct comm *comm);
int comm_size(const struct comm *comm);
int comm_node_rank(const struct comm *comm);  /* rank within this host */
int comm_node_size(const struct comm *comm);  /* ranks on this host */
int comm_node_count(const struct comm *comm); /* hosts */
int comm_has_mpi(void);                       /* compiled with MPI */
const char *comm_library_version(void);

/* Whether MPI takes pointers to the memory of NVIDIA cards: 1 or 0 as it says
 * itself, -1 where it cannot be asked. */
int comm_takes_card_memory(void);

/* Reductions in place over all ranks. Collective. Sums are taken in rank order
 * independent of the machine only as far as MPI promises. A NaN is never lost:
 * it counts as infinity for the greatest and minus infinity for the least. */
int comm_sum_double(struct ctx *ctx, double *v, int n);
int comm_sum_int64(struct ctx *ctx, int64_t *v, int n);
int comm_max_double(struct ctx *ctx, double *v, int n);
int comm_min_double(struct ctx *ctx, double *v, int n);
int comm_max_int64(struct ctx *ctx, int64_t *v, int n);

/* Sum over the lower ranks, 0 on rank 0. Collective. */
int comm_exscan_int64(struct ctx *ctx, int64_t value, int64_t *below);

int comm_barrier(struct ctx *ctx);
/* Rank 0's bytes to all. Any size (split below 2^31 inside). Collective. */
int comm_bcast(struct ctx *ctx, void *bytes, size_t n);
/* One double of each rank to all: out has comm_size() entries. Collective. */
int comm_allgather_double(struct ctx *ctx, double value, double *out);
int comm_allgather_int64(struct ctx *ctx, int64_t value, int64_t *out);

/* Bytes from every rank to every rank. send_bytes[r] bytes for rank r stand in
 * `send`, back to back in rank order; *recv is allocated (caller frees) and
 * recv_bytes[r] filled in. Any total size. Collective. */
int comm_alltoall(struct ctx *ctx, const void *send, const size_t *send_bytes,
                  void **recv, size_t *recv_bytes);

/* End of a phase: if any rank comes with status != 0, all ranks return the
 * status of the lowest failing rank and hold its message. Collective. */
int comm_agree(struct ctx *ctx, int status);

/* The one small Allreduce of a step. In: this rank's status, wish to stop and
 * `value` (NaN counts as infinity); out: the greatest of each over the ranks; a
 * status other than 0 is returned as by comm_agree(), with the failing rank's
 * message. Collective. */
int comm_step(struct ctx *ctx, int status, int *stop, double *value);

/* The same in two halves, so that ranks work instead of waiting for the
 * slowest. One pair at a time, and nothing collective between but exchanges
 * with peers.
 */
int comm_agree_begin(struct ctx *ctx, int status);
int comm_agree_end(struct ctx *ctx);
int comm_step_begin(struct ctx *ctx, int status, int stop, double value);
int comm_step_end(struct ctx *ctx, int *stop, double *value);

/* And of n numbers, at most COMM_SMALL: the greatest of each (NaN counts as
 * infinity), or sums in rank order. */
enum comm_reduction { COMM_GREATEST, COMM_SUM };
enum { COMM_SMALL = 4 };
int comm_reduce_begin(struct ctx *ctx, const double *v, int n,
                      enum comm_reduction how);
int comm_reduce_end(struct ctx *ctx, double *v);

/* ---- exchange with a fixed set of peers (halos, migration) ---- */

struct comm_exchange;

/* peers[n]: ranks, each at most once; the relation must be symmetric (if I name
 * you, you name me). This rank itself may be among them: its message is copied.
 * Collective over the peers. The caller owns *out. */
int comm_exchange_create(struct ctx *ctx, int n, const int *peers,
                         struct comm_exchange **out);
void comm_exchange_destroy(struct comm_exchange *x);

/* From now on buffers may be memory of a card: MPI copies them, even those that
 * this rank sends to itself. Only where MPI takes such memory. */
void comm_exchange_use_card(struct comm_exchange *x);

/* Tell each peer how many bytes it will get; learn how many come. */
int comm_exchange_sizes(struct ctx *ctx, struct comm_exchange *x,
                        const size_t *send_bytes, size_t *recv_bytes);

/* Start sending send[p] (send_bytes[p]) to and receiving recv[p] from peer p.
 * Buffers belong to the caller and must stay until comm_exchange_wait().
 * A message may have 0 bytes (nothing is sent). */
int comm_exchange_post(struct ctx *ctx, struct comm_exchange *x,
                       const void *const *send, const size_t *send_bytes,
                       void *const *recv, const size_t *recv_bytes);
int comm_exchange_wait(struct ctx *ctx, struct comm_exchange *x);

/* Where the messages of the next comm_exchange_post() may be written, n bytes
 * in all, in any order: ranks of the same host read them there. All of them
 * must stand there then. Errors: STATUS_MEMORY. */
int comm_exchange_room(struct ctx *ctx, struct comm_exchange *x, size_t n,
                       void **out);

/* As comm_exchange_wait(), but messages may stay where their senders wrote
 * them: then at[p] points there, until the next comm_exchange_post(); else it
 * is left as it was, and the message has come to recv[p]. */
int comm_exchange_wait_at(struct ctx *ctx, struct comm_exchange *x,
                          const void **at);

/* Bytes this rank has sent to other ranks through exchanges and comm_alltoall()
 * since the start. */
uint64_t comm_bytes_sent(const struct comm *comm);

#endif
