#include "driver/stop.h"

#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/numeral.h"
#include "base/timer.h"
#include "driver/commands.h"

static const struct {
    int number;
    const char *name;
} taken[] = {{SIGTERM, "SIGTERM"},
             {SIGINT, "SIGINT"},
             {SIGUSR1, "SIGUSR1"},
             {SIGUSR2, "SIGUSR2"}};

enum { N_TAKEN = sizeof(taken) / sizeof(taken[0]) };

/* A signal handler can reach nothing else than a static. */
static volatile sig_atomic_t received;

static int file_found, out_of_time;
static double next_look, deadline = HUGE_VAL, margin;

static void receive(int number)
{
    if (received != 0) {
        signal(number, SIG_DFL);
        raise(number);
    }
    received = number;
}

void stop_watch(void)
{
    struct sigaction action = {.sa_handler = receive, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < N_TAKEN; i++)
        sigaction(taken[i].number, &action, NULL);
}

/* "3:55:00" as seconds, or -1. */
static double parse_wall_time(const char *text)
{
    unsigned long hours;
    unsigned minutes, seconds;
    char rest;
    if (!isdigit((unsigned char)text[0]) || strlen(text) > 15 ||
        sscanf(text, "%lu:%2u:%2u%c", &hours, &minutes, &seconds, &rest) != 3 ||
        minutes > 59 || seconds > 59)
        return -1;
    return 3600.0 * (double)hours + 60.0 * minutes + seconds;
}

/* Seconds from now to the end of Slurm's job, which it gives as seconds since
 * 1970; infinity where it says nothing. */
static double slurm_seconds(void)
{
    const char *text = getenv("SLURM_JOB_END_TIME");
    double at;
    if (text == NULL || numeral_real(text, strlen(text), &at) != NULL)
        return HUGE_VAL;
    return at - (double)time(NULL);
}

int stop_deadline(struct ctx *ctx, const struct command_line *line)
{
    const char *text = line->option[OPTION_WALL_TIME];
    double seconds = slurm_seconds();
    if (text != NULL) {
        seconds = parse_wall_time(text);
        if (seconds <= 0)
            return FAIL(ctx, STATUS_USAGE,
                        "--wall-time %s: expected hours:minutes:seconds, for "
                        "example 3:55:00",
                        text);
    }
    deadline = timer_now() + seconds;
    /* Closing files and the table's last lines take their time, too. */
    margin = fmin(30, 0.05 * seconds);
    return 0;
}

int stop_wanted(const char *file, double needed)
{
    if (received != 0 || file_found || out_of_time)
        return 1;
    if (file == NULL)
        return 0;
    double now = timer_now();
    out_of_time = now + 2 * needed + margin >= deadline;
    if (out_of_time)
        return 1;
    if (now < next_look)
        return 0;
    next_look = now + 0.25;
    file_found = access(file, F_OK) == 0;
    return file_found;
}

const char *stop_reason(void)
{
    for (int i = 0; i < N_TAKEN; i++)
        if (received == taken[i].number)
            return taken[i].name;
    return file_found    ? "file STOP"
           : out_of_time ? "wall time"
                         : "another rank's wish";
}
