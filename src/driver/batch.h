/* batch.h: a job of Slurm, and the script that runs it.
 */
#ifndef WARPDECK_DRIVER_BATCH_H
#define WARPDECK_DRIVER_BATCH_H

#include <stdio.h>

struct command_line;

struct batch {
    const struct command_line *line; /* deck, overrides, the whole line */
    const char *name;                /* of the results and of the job */
    const char *folder;              /* for the results */
    const char *time;                /* as Slurm takes it, or NULL */
    double seconds;                  /* the same; 0 without one */
    const char *launch;              /* "srun" */
    long ranks, threads;             /* threads of each rank */
    long gpus_per_node;              /* 0: none */
    long nodes;                      /* 0: Slurm may choose */
    int requeue;
    const char *key; /* that differs among the jobs of an array, or NULL */
    int n_values;
    char **values;
};

/* Print the script. Its text is the same for the same batch. */
void batch_script(FILE *out, const struct batch *b);

/* Seconds of a time limit as Slurm writes it (minutes, minutes:seconds,
 * hours:minutes:seconds, days-hours, days-hours:minutes,
 * days-hours:minutes:seconds), or -1. */
double batch_seconds(const char *text);

/* How long before the limit the job is signalled: a twentieth of its time,
 * within 1 to 10 minutes; of short ones, half. Slurm may do it a minute early.
 */
int batch_ahead(double seconds);

/* The values of "a,b,[1,2],'c,d'": commas within brackets and quotes are no
 * end. Into *out, in new memory, as are the texts; returns their number, 0 for
 * a list with an empty value or an open bracket or quote, -1 without memory. */
int batch_split(const char *list, char ***out);

#endif
