/* Energy meters of processors, from a folder like Linux's; the worker that
 * does jobs beside the main thread. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/meters.h"
#include "base/worker.h"
#include "tests/tap.h"

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (f == NULL)
        return;
    fputs(text, f);
    fclose(f);
}

static void test_meters(void)
{
    struct rapl r;
    tap_is_int(rapl_open("nowhere", &r), 0, "where nothing is shown, no meter");
    mkdir("power", 0777);
    mkdir("power/intel-rapl:0", 0777);
    mkdir("power/intel-rapl:1", 0777);
    put("power/intel-rapl:0/energy_uj", "1000000\n");
    put("power/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    put("power/intel-rapl:1/energy_uj", "262143328800\n");
    put("power/intel-rapl:1/max_energy_range_uj", "262143328850\n");
    tap_is_int(rapl_open("power", &r), 2, "two packages have two meters");
    tap_near(rapl_joules(&r), 0, 0, "nothing was used yet");
    put("power/intel-rapl:0/energy_uj", "3500000\n");
    tap_near(rapl_joules(&r), 2.5, 1e-9, "2500000 microjoules are 2.5 J");
    put("power/intel-rapl:1/energy_uj", "1999950\n");
    tap_near(rapl_joules(&r), 2, 1e-9, "a meter that wrapped around is right");
}

struct count {
    struct worker_job job;
    int *at, mine, *wrong;
};

static int check_turn(struct ctx *ctx, struct worker_job *job)
{
    struct count *c = (struct count *)job;
    *c->wrong += (*c->at)++ != c->mine;
    return c->mine == 150 ? FAIL(ctx, STATUS_IO, "job 150 fails") : 0;
}

static void forget(struct worker_job *job)
{
    free(job);
}

static void test_worker(struct ctx *ctx)
{
    struct worker *w;
    int at = 0, wrong = 0;
    tap_is_int(worker_start(ctx, 1000, &w), 0, "a worker starts");
    tap_ok(worker_takes(w, 1000) && !worker_takes(w, 1001),
           "what exceeds its memory is not taken");
    for (int i = 0; i < 200; i++) {
        struct count *c = calloc(1, sizeof(*c));
        if (c == NULL)
            break;
        size_t bytes = i % 3 == 0 ? 0 : 400;
        *c = (struct count){
            .job = {.run = check_turn, .release = forget, .bytes = bytes},
            .at = &at,
            .mine = i,
            .wrong = &wrong};
        worker_wait_for_room(w, bytes);
        worker_post(w, &c->job);
    }
    tap_is_int(worker_drain(ctx, w), STATUS_IO, "a job's failure comes back");
    tap_is_text(ctx->error.text, "job 150 fails\n", "with its message");
    tap_ok(at == 151 && wrong == 0,
           "jobs are done one by one in order, and none after a failure");
    worker_stop(w);
}

int main(void)
{
    struct ctx ctx = {0};
    if (comm_start_alone(1, &ctx.comm) != 0)
        return tap_skip_all("no memory");
    test_meters();
    test_worker(&ctx);
    comm_finish(ctx.comm);
    return tap_done();
}
