/* warpdeck info: what this program is, and what it finds on this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "driver/commands.h"
#include "driver/version.h"
#include "io/h5md.h"
#include "kernels/device.h"
#include "kernels/machine.h"
#include "solvers/solver.h"

static void print_machine(struct log *log)
{
    struct machine m;
    char memory[FORMAT_MAX], host[256] = "unknown";
    machine_describe(&m);
    gethostname(host, sizeof(host) - 1);
    log_info(log, "host        %s, %s of memory", host,
             format_bytes(m.memory, memory));
    log_info(log, "processor   %s; loops compiled for %s", m.processor,
             device_simd_name());
    if (m.cores > 0)
        log_info(log,
                 "cores       %d usable; packages: %d, cores: %d, NUMA nodes: "
                 "%d",
                 m.usable, m.packages, m.cores, m.numa_nodes);
    else
        log_info(log, "cores       %d usable", m.usable);
}

static void print_device(void *user, const char *text)
{
    log_info(user, "device      %s", text);
}

/* What "auto" is for a problem that is large enough. */
static void print_choice(struct log *log)
{
    char reason[192];
    const char *name =
        device_choose("auto", DEVICE_AUTO_LEAST, reason, sizeof(reason));
    log_info(log, "device      auto: %s; %s", name, reason);
}

static void print_solvers(struct log *log)
{
    for (int i = 0; solver_at(i) != NULL; i++) {
        const struct solver *s = solver_at(i);
        char library[64] = "";
        if (s->library != NULL)
            s->library(library, sizeof library);
        log_info(log, "solver      %s, %s%s%s", s->name, s->title,
                 library[0] != '\0' ? "; " : "", library);
    }
}

static void print_limits_of(struct log *log, int threads)
{
    struct machine_limits m;
    machine_measure(threads, 0.25, &m);
    m.triad = machine_triad(threads, machine_triad_size());
    log_info(log,
             "limits      %d thread%s: FMA peak %.1f GFLOP/s double, %.1f "
             "single (%d-bit vectors); STREAM triad %.1f GB/s",
             threads, threads == 1 ? "" : "s", 1e-9 * m.fma_double,
             1e-9 * m.fma_single, m.vector_bits, 1e-9 * m.triad);
}

int cmd_info(struct ctx *ctx, const struct command_line *line)
{
    struct log *log = ctx->log;
    (void)line;
    log_info(log, "Warpdeck    %s  (git %s)", version_number(), version_git());
    log_info(log, "built with  %s", version_flags());
    log_info(log, "MPI         %s", comm_library_version());
    log_info(log, "HDF5        %s", h5md_library_version());
    print_solvers(log);
    device_list(print_device, log);
    print_choice(log);
    print_machine(log);
    log_info(log, "ranks       %d on %d host%s", comm_size(ctx->comm),
             comm_node_count(ctx->comm),
             comm_node_count(ctx->comm) == 1 ? "" : "s");
    if (log_level(log) >= LOG_VERBOSE && comm_rank(ctx->comm) == 0) {
        struct machine m;
        machine_describe(&m);
        print_limits_of(log, 1);
        if (m.usable > 1)
            print_limits_of(log, m.usable);
    }
    return comm_agree(ctx, 0);
}
