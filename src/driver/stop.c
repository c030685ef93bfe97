#include "driver/stop.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "base/timer.h"

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

static int file_found;
static double next_look;

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

int stop_wanted(const char *file)
{
    if (received != 0 || file_found)
        return 1;
    if (file == NULL || timer_now() < next_look)
        return 0;
    next_look = timer_now() + 0.25;
    file_found = access(file, F_OK) == 0;
    return file_found;
}

const char *stop_reason(void)
{
    for (int i = 0; i < N_TAKEN; i++)
        if (received == taken[i].number)
            return taken[i].name;
    return file_found ? "file STOP" : "another rank's wish";
}
