/* stop.h: the wish to end a run early, with its output in order and a
 * checkpoint to go on from.
 *
 * It comes as a signal (SIGTERM and SIGUSR1 from batch systems, SIGINT from a
 * keyboard) to any rank, as a file named STOP in the output folder, or because
 * the job's time is nearly over. The run carries it to all ranks with the
 * step's one Allreduce.
 */
#ifndef WARPDECK_DRIVER_STOP_H
#define WARPDECK_DRIVER_STOP_H

struct ctx;
struct command_line;

/* Take SIGTERM, SIGINT, SIGUSR1 and SIGUSR2 as a wish to stop; a second signal
 * ends the process as if it had not been taken. To be called again after MPI
 * has started, which may set handlers of its own. */
void stop_watch(void);

/* When the run has to be over: so long after this call as --wall-time says, or
 * else at SLURM_JOB_END_TIME. Errors: STATUS_USAGE. */
int stop_deadline(struct ctx *ctx, const struct command_line *line);

/* Whether this rank was asked to stop. `file`: the stop file, looked for at
 * most four times a second, or NULL (all ranks but 0). `needed`: seconds that a
 * checkpoint and a last step may take; rank 0 stops that long before the
 * deadline, and some more. */
int stop_wanted(const char *file, double needed);

/* "SIGTERM", "file STOP", "wall time", or "another rank's wish". */
const char *stop_reason(void);

#endif
