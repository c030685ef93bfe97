#include "driver/monitor.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/param.h"
#include "base/timer.h"
#include "domain/field.h"
#include "driver/job.h"
#include "driver/staging.h"
#include "io/h5md.h"
#include "kernels/device.h"

enum value {
    STEPS,
    IMBALANCE,
    HALO,
    MEMORY,
    MEMORY_ALL,
    CPU_POWER,
    CARD_USE,
    CARD_MEMORY,
    CARD_HEAT,
    CARD_POWER,
    CARD_ERRORS
};

static const struct observable about[] = {
    [STEPS] = {.name = "steps_per_second",
               .unit = "s-1",
               .description = "steps a second since the row before"},
    [IMBALANCE] = {.name = "imbalance",
                   .unit = "",
                   .description = "greatest over mean time that a rank was at "
                                  "work and did not wait for others"},
    [HALO] = {.name = "halo_share",
              .unit = "",
              .description = "share of the time for messages between ranks, "
                             "waiting included; mean over the ranks"},
    [MEMORY] = {.name = "memory_rank",
                .unit = "byte",
                .description = "most memory that a rank has held so far"},
    [MEMORY_ALL] = {.name = "memory",
                    .unit = "byte",
                    .description = "the same, sum over the ranks"},
    [CPU_POWER] = {.name = "cpu_power",
                   .unit = "W",
                   .description =
                       "power of the processors of all hosts (RAPL), "
                       "other programs' included"},
    [CARD_USE] = {.name = "card_utilisation",
                  .unit = "",
                  .description = "share of the time that the cards of the "
                                 "hosts worked, percent (NVML)"},
    [CARD_MEMORY] = {.name = "card_memory",
                     .unit = "byte",
                     .description = "memory in use on all cards (NVML)"},
    [CARD_HEAT] = {.name = "card_temperature",
                   .unit = "",
                   .description = "temperature of the hottest card, degrees "
                                  "Celsius (NVML)"},
    [CARD_POWER] = {.name = "card_power",
                    .unit = "W",
                    .description = "power of all cards (NVML)"},
    [CARD_ERRORS] = {.name = "card_ecc_errors",
                     .unit = "",
                     .description = "memory errors of all cards that could not "
                                    "be corrected, since their drivers started "
                                    "(NVML)"}};

/* ---- opening ---- */

static int is_first_of_host(const struct ctx *ctx)
{
    return comm_node_rank(ctx->comm) == 0;
}

static void choose_columns(struct monitor *m)
{
    for (int i = STEPS; i <= CARD_ERRORS; i++)
        if ((i != CPU_POWER || m->has_energy) && (i < CARD_USE || m->has_cards))
            m->columns[m->n_columns++] = i;
}

/* The first rank of each host reads its meters. Why something is missing is
 * told in a line, of the first host that says so. */
static int look_around(struct ctx *ctx, const struct job *job,
                       struct monitor *m)
{
    const struct params *p = job->params;
    const char *root = params_string(p, "monitor", "powercap");
    const char *cards = params_string(p, "monitor", "cards");
    int watch =
        strcmp(cards, "on") == 0 ||
        (strcmp(cards, "auto") == 0 && strcmp(job->device->name, "cpu") != 0);
    char reason[160] = "";
    int64_t found[2] = {0, 0};
    if (is_first_of_host(ctx)) {
        found[0] = rapl_open(root, &m->rapl) > 0;
        if (watch)
            m->nvml = nvml_open(reason, sizeof(reason));
        found[1] = m->nvml != NULL;
    }
    TRY(comm_max_int64(ctx, found, 2));
    m->has_energy = found[0] != 0;
    m->has_cards = found[1] != 0;
    if (!m->has_energy)
        log_info(ctx->log,
                 "monitor: no energy of processors, since no meter can be read "
                 "in %s",
                 root);
    if (watch && !m->has_cards)
        log_info(ctx->log, "monitor: nothing of cards, since %s", reason);
    return 0;
}

/* Time of this rank's phases so far: for messages, and all but what waits. */
static void add_up(const struct ctx *ctx, double *halo, double *busy)
{
    static const char *const messages[] = {"halo", "migrate", "transpose",
                                           "columns", "sums"};
    static const char *const files[] = {"output", "checkpoint"};
    *halo = *busy = 0;
    for (int i = 0; i < timer_count(ctx->timers); i++) {
        const char *name = timer_name(ctx->timers, i);
        double seconds = timer_seconds(ctx->timers, i);
        int sends = 0, writes = 0;
        for (size_t k = 0; k < sizeof(messages) / sizeof(*messages); k++)
            sends = sends || strcmp(name, messages[k]) == 0;
        for (size_t k = 0; k < sizeof(files) / sizeof(*files); k++)
            writes = writes || strcmp(name, files[k]) == 0;
        *halo += sends ? seconds : 0;
        *busy += sends || writes ? 0 : seconds;
    }
}

static void begin_interval(const struct ctx *ctx, struct monitor *m,
                           int64_t step)
{
    m->step = step;
    m->wall = timer_now();
    add_up(ctx, &m->halo, &m->busy);
}

int monitor_open(struct ctx *ctx, const struct job *job, struct monitor *out)
{
    const struct params *p = job->params;
    *out = (struct monitor){
        .wanted = params_has_section(p, "monitor"), .series = -1, .last = -1};
    if (!out->wanted)
        return 0;
    struct interval every = params_interval(p, "monitor", "every");
    clock_begin(&out->clock, &every, job->solver->time(job->state));
    TRY(look_around(ctx, job, out));
    choose_columns(out);
    begin_interval(ctx, out, job->solver->step_number(job->state));
    return 0;
}

void monitor_free(struct monitor *m)
{
    nvml_close(m->nvml);
    m->nvml = NULL;
}

int monitor_due(struct monitor *m, const struct job *job)
{
    const struct solver *s = job->solver;
    return m->wanted && clock_due(&m->clock, s->step_number(job->state) + 1,
                                  s->time(job->state), s->timestep(job->state));
}

/* ---- measuring ---- */

static double memory_held(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0
               ? 1024.0 * (double)usage.ru_maxrss
               : 0;
}

static int measure(struct ctx *ctx, struct monitor *m, int64_t step,
                   double *values)
{
    double wall = timer_now() - m->wall, halo, busy, ranks;
    struct cards cards = {0};
    add_up(ctx, &halo, &busy);
    halo = halo > m->halo ? halo - m->halo : 0;
    busy = busy > m->busy ? busy - m->busy : 0;
    if (m->nvml != NULL)
        nvml_read(m->nvml, &cards);
    double joules = rapl_joules(&m->rapl);
    double sum[] = {busy,
                    halo,
                    memory_held(),
                    joules,
                    cards.utilisation * cards.n,
                    cards.memory,
                    cards.power,
                    cards.ecc,
                    cards.n};
    double most[] = {busy, memory_held(), cards.temperature};
    TRY(comm_sum_double(ctx, sum, 9));
    TRY(comm_max_double(ctx, most, 3));
    ranks = comm_size(ctx->comm);
    wall = wall > 1e-9 ? wall : 1e-9;
    values[STEPS] = (double)(step - m->step) / wall;
    values[IMBALANCE] = sum[0] > 0 ? most[0] * ranks / sum[0] : 1;
    values[HALO] = sum[1] / (ranks * wall);
    values[MEMORY] = most[1];
    values[MEMORY_ALL] = sum[2];
    values[CPU_POWER] = sum[3] / wall;
    values[CARD_USE] = sum[8] > 0 ? sum[4] / sum[8] : 0;
    values[CARD_MEMORY] = sum[5];
    values[CARD_HEAT] = most[2];
    values[CARD_POWER] = sum[6];
    values[CARD_ERRORS] = sum[7];
    return 0;
}

static void tell(struct ctx *ctx, const struct monitor *m, const double *v)
{
    char energy[64] = "", cards[160] = "", bytes[FORMAT_MAX];
    if (m->has_energy)
        snprintf(energy, sizeof(energy), ", processors %.0f W", v[CPU_POWER]);
    if (m->has_cards)
        snprintf(cards, sizeof(cards),
                 ", cards %.0f %%, %s, %.0f C, %.0f W, %.0f ECC errors",
                 v[CARD_USE], format_bytes(v[CARD_MEMORY], bytes), v[CARD_HEAT],
                 v[CARD_POWER], v[CARD_ERRORS]);
    log_info(ctx->log,
             "monitor: %.4g steps/s, imbalance %.2f, messages %.1f %%, memory "
             "of a rank %s%s%s",
             v[STEPS], v[IMBALANCE], 100 * v[HALO],
             format_bytes(v[MEMORY], bytes), energy, cards);
}

/* The datasets are made with the first row. */
static int make_series(struct ctx *ctx, struct monitor *m,
                       const struct job *job, struct staging *staging)
{
    struct observable chosen[MONITOR_VALUES];
    for (int i = 0; i < m->n_columns; i++)
        chosen[i] = about[m->columns[i]];
    TRY(staging_drain(ctx, staging));
    int status = h5md_add_series(ctx, staging->file, "/monitor", m->n_columns,
                                 chosen, job->solver->time_unit(job->state),
                                 &m->series, &m->last);
    staging->file_failed |= status != 0;
    return status;
}

int monitor_write(struct ctx *ctx, struct monitor *m, const struct job *job,
                  struct staging *staging)
{
    int64_t step = job->solver->step_number(job->state);
    double time = job->solver->time(job->state);
    double values[MONITOR_VALUES] = {0}, row[MONITOR_VALUES];
    TRY(measure(ctx, m, step, values));
    clock_done(&m->clock, time);
    tell(ctx, m, values);
    if (m->series < 0)
        TRY(make_series(ctx, m, job, staging));
    for (int i = 0; i < m->n_columns; i++)
        row[i] = values[m->columns[i]];
    begin_interval(ctx, m, step);
    if (m->last >= step)
        return 0;
    m->last = step;
    return staging_probe(ctx, staging, m->series, step, time, m->n_columns,
                         row);
}
