/* stop.h: the wish to end a run early with its output in order.
 *
 * It comes as a signal (SIGTERM and SIGUSR1 from batch systems, SIGINT from a
 * keyboard) to any rank, or as a file named STOP in the output folder. The run
 * carries it to all ranks with the step's one Allreduce.
 */
#ifndef WARPDECK_DRIVER_STOP_H
#define WARPDECK_DRIVER_STOP_H

/* Take SIGTERM, SIGINT, SIGUSR1 and SIGUSR2 as a wish to stop; a second signal
 * ends the process as if it had not been taken. To be called again after MPI
 * has started, which may set handlers of its own. */
void stop_watch(void);

/* Whether this rank was asked to stop. `file`: the stop file, looked for at
 * most four times a second, or NULL (all ranks but 0). */
int stop_wanted(const char *file);

/* "SIGTERM", "file STOP", or "another rank's wish". */
const char *stop_reason(void);

#endif
