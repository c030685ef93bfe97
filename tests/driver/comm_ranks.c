/* What the ranks tell one another; started on several of them by comm.sh. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "tests/tap.h"

static int rank, size;

/* Whether a sentence is true on all ranks; rank 0 reports. */
static void all_ok(struct ctx *ctx, int held, const char *sentence)
{
    double bad = !held;
    comm_max_double(ctx, &bad, 1);
    tap_ok(bad == 0, "%s", sentence);
}

static void test_reductions(struct ctx *ctx)
{
    double d[2] = {rank + 1, -rank};
    int64_t i = rank + 1, below = -1, far = (int64_t)rank << 40;
    double greatest[3] = {rank, -rank, rank == size - 1 ? NAN : 0};
    double least[2] = {rank, rank == 0 ? NAN : 5};
    int n = size * (size + 1) / 2;
    comm_sum_double(ctx, d, 2);
    all_ok(ctx, d[0] == n && d[1] == size - n, "doubles are summed");
    comm_sum_int64(ctx, &i, 1);
    all_ok(ctx, i == n, "whole numbers are summed");
    comm_max_int64(ctx, &far, 1);
    all_ok(ctx, far == (int64_t)(size - 1) << 40,
           "the greatest whole number has 64 bits");
    comm_max_double(ctx, greatest, 3);
    all_ok(ctx, greatest[0] == size - 1 && greatest[1] == 0, "greatest number");
    all_ok(ctx, isinf(greatest[2]) && greatest[2] > 0,
           "a NaN of any rank is not lost in the greatest number");
    comm_min_double(ctx, least, 2);
    all_ok(ctx, least[0] == 0 && isinf(least[1]) && least[1] < 0,
           "least number, and no NaN is lost in it");
    comm_exscan_int64(ctx, rank + 1, &below);
    all_ok(ctx, below == (int64_t)rank * (rank + 1) / 2,
           "sums over the lower ranks, 0 on rank 0");
}

static void test_spreading(struct ctx *ctx)
{
    char text[100] = "";
    double *d = calloc((size_t)size, sizeof(double));
    int64_t *i = calloc((size_t)size, sizeof(int64_t));
    int right = d != NULL && i != NULL;
    if (rank == 0)
        snprintf(text, sizeof(text), "from rank 0");
    comm_bcast(ctx, text, sizeof(text));
    all_ok(ctx, strcmp(text, "from rank 0") == 0, "rank 0's bytes reach all");
    if (right) {
        comm_allgather_double(ctx, 0.5 * rank, d);
        comm_allgather_int64(ctx, 7 * rank, i);
    }
    for (int r = 0; right && r < size; r++)
        right = d[r] == 0.5 * r && i[r] == 7 * r;
    all_ok(ctx, right, "numbers of all ranks are gathered in rank order");
    free(d);
    free(i);
}

/* Rank a sends a + 3 b bytes of value 16 a + b to rank b. */
static size_t bytes_between(int a, int b)
{
    return a == 1 && b == 0 ? 0 : (size_t)(a + 3 * b);
}

static void test_alltoall(struct ctx *ctx)
{
    size_t send_bytes[64], recv_bytes[64], n = 0, at = 0;
    char send[4096];
    void *recv = NULL;
    int right = 1;
    for (int r = 0; r < size; n += send_bytes[r++]) {
        send_bytes[r] = bytes_between(rank, r);
        memset(send + n, 16 * rank + r, send_bytes[r]);
    }
    int status = comm_alltoall(ctx, send, send_bytes, &recv, recv_bytes);
    const char *c = recv;
    for (int r = 0; r < size; at += recv_bytes[r++]) {
        right &= recv_bytes[r] == bytes_between(r, rank);
        for (size_t k = 0; right && k < recv_bytes[r]; k++)
            right = c[at + k] == (char)(16 * r + rank);
    }
    all_ok(ctx, status == 0 && right,
           "bytes from all to all, none between some, back to back");
    free(recv);
}

/* Exchange with all ranks, this one too: bytes grow with the round. */
static int exchange_round(struct ctx *ctx, struct comm_exchange *x, int round)
{
    const void *send[64];
    void *recv[64];
    size_t send_bytes[64], recv_bytes[64];
    char out[64][256], in[64][256];
    int right = 1;
    for (int p = 0; p < size; p++) {
        send_bytes[p] = round == 0 ? 0 : bytes_between(rank, p) + 1;
        memset(out[p], rank + 5 * p + round, sizeof(out[p]));
        send[p] = out[p];
        recv[p] = in[p];
    }
    if (comm_exchange_sizes(ctx, x, send_bytes, recv_bytes) != 0 ||
        comm_exchange_post(ctx, x, send, send_bytes, recv, recv_bytes) != 0 ||
        comm_exchange_wait(ctx, x) != 0)
        return 0;
    for (int p = 0; p < size; p++) {
        right &= recv_bytes[p] == (round == 0 ? 0 : bytes_between(p, rank) + 1);
        for (size_t k = 0; right && k < recv_bytes[p]; k++)
            right = in[p][k] == (char)(p + 5 * rank + round);
    }
    return right;
}

static void test_exchange(struct ctx *ctx)
{
    int peers[64], right = 1;
    struct comm_exchange *x = NULL, *y = NULL, *none = NULL;
    for (int p = 0; p < size; p++)
        peers[p] = p;
    int status = comm_exchange_create(ctx, size, peers, &x);
    status |= comm_exchange_create(ctx, size, peers, &y);
    status |= comm_exchange_create(ctx, 0, NULL, &none);
    all_ok(ctx, status == 0, "exchanges are made, one without peers too");
    for (int round = 0; status == 0 && round < 20; round++)
        right &= exchange_round(ctx, x, round) && exchange_round(ctx, y, round);
    all_ok(ctx, status == 0 && right,
           "messages between all pairs and to itself arrive, empty ones too");
    comm_exchange_destroy(x);
    comm_exchange_destroy(y);
    comm_exchange_destroy(none);
}

enum { LONGEST = (1 << 18) + 1, SHIFTS = 512 };

/* Bytes of a round between two ranks: some through memory that ranks of a host
 * share, some too long for it; growing and shrinking; none one way. */
static size_t long_bytes(int from, int to, int round)
{
#ifdef COMM_PIECE /* tiny ones */
    static const size_t n[] = {10, 50, 70, 77, 0, 100};
#else
    static const size_t n[] = {10, 5000, LONGEST - 1, LONGEST, 0, 100000};
#endif
    return from == 0 && round % 3 == 1 ? 0 : n[(from + to + round) % 6];
}

static unsigned char pattern[LONGEST + SHIFTS];

static void make_pattern(void)
{
    for (size_t k = 0; k < sizeof pattern; k++)
        pattern[k] = (unsigned char)(k * 7 + (k >> 9));
}

/* The bytes of a message, others for each pair and round. */
static const unsigned char *long_text(int from, int to, int round)
{
    return pattern + (from + 3 * to + round) % SHIFTS;
}

struct long_case {
    struct comm_exchange *x;
    unsigned char *out, *in;
    const void *send[64];
    void *recv[64];
    size_t send_bytes[64], recv_bytes[64];
};

/* written: into the room of the exchange; left: read where messages stand. */
static int long_round(struct ctx *ctx, struct long_case *c, int round,
                      int written, int left)
{
    size_t n = 0, in = 0;
    const void *at[64];
    void *out = c->out;
    int right = 1;
    for (int p = 0; p < size; p++)
        n += c->send_bytes[p] = long_bytes(rank, p, round);
    if (written && comm_exchange_room(ctx, c->x, n, &out) != 0)
        return 0;
    for (int p = 0; p < size; p++) {
        unsigned char *bytes = out;
        c->send[p] = bytes;
        if (c->send_bytes[p] > 0)
            memcpy(bytes, long_text(rank, p, round), c->send_bytes[p]);
        out = bytes + c->send_bytes[p];
        c->recv_bytes[p] = long_bytes(p, rank, round);
        at[p] = c->recv[p] = c->in + in;
        in += c->recv_bytes[p];
    }
    if (comm_exchange_post(ctx, c->x, c->send, c->send_bytes, c->recv,
                           c->recv_bytes) != 0 ||
        (left ? comm_exchange_wait_at(ctx, c->x, at)
              : comm_exchange_wait(ctx, c->x)) != 0)
        return 0;
    for (int p = 0; p < size; p++)
        if (c->recv_bytes[p] > 0)
            right &=
                memcmp(at[p], long_text(p, rank, round), c->recv_bytes[p]) == 0;
    return right;
}

static void test_long_messages(struct ctx *ctx)
{
    struct long_case c = {0};
    int peers[64], right = 1;
    size_t most = (size_t)size * LONGEST;
    make_pattern();
    for (int p = 0; p < size; p++)
        peers[p] = p;
    c.out = malloc(most);
    c.in = malloc(most);
    if (comm_exchange_create(ctx, size, peers, &c.x) != 0 || !c.out || !c.in)
        right = 0;
    for (int round = 0; right && round < 24; round++)
        right = long_round(ctx, &c, round, round % 2, round / 2 % 2);
    all_ok(ctx, right,
           "long messages arrive, written into or read from memory of others");
    comm_exchange_destroy(c.x);
    free(c.out);
    free(c.in);
}

/* Two exchanges between the same ranks, posted in different orders. */
static void test_two_in_flight(struct ctx *ctx)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    int peers[2] = {next, last}, n = next == last ? 1 : 2, got[2][2] = {{0}};
    struct comm_exchange *x[2] = {NULL, NULL};
    size_t bytes[2] = {sizeof(int), sizeof(int)};
    int status = comm_exchange_create(ctx, n, peers, &x[0]);
    status |= comm_exchange_create(ctx, n, peers, &x[1]);
    int words[2] = {100 + rank, 200 + rank};
    for (int k = 0; status == 0 && k < 2; k++) {
        int e = rank % 2 == 0 ? k : 1 - k;
        const void *send[2] = {&words[e], &words[e]};
        void *recv[2] = {&got[e][0], &got[e][1]};
        status = comm_exchange_post(ctx, x[e], send, bytes, recv, bytes);
    }
    for (int k = 0; status == 0 && k < 2; k++)
        status = comm_exchange_wait(ctx, x[k]);
    int right = status == 0;
    for (int e = 0; e < 2; e++)
        for (int p = 0; p < n; p++)
            right &= got[e][p] == 100 * (e + 1) + peers[p];
    all_ok(ctx, right,
           "two exchanges in flight do not take each other's words");
    comm_exchange_destroy(x[0]);
    comm_exchange_destroy(x[1]);
}

static void test_agreement(struct ctx *ctx)
{
    int stop = 0;
    double value = rank;
    all_ok(ctx, comm_agree(ctx, 0) == 0, "all well is agreed on");
    all_ok(ctx,
           comm_step(ctx, 0, &stop, &value) == 0 && stop == 0 &&
               value == size - 1,
           "a step without news: no stop, the greatest value");
    stop = rank == size / 2;
    all_ok(ctx, comm_step(ctx, 0, &stop, &value) == 0 && stop == 1,
           "one rank's wish to stop reaches all");
    value = rank == size - 1 ? NAN : 1;
    stop = 0;
    comm_step(ctx, 0, &stop, &value);
    all_ok(ctx, isinf(value), "a value that is no number is seen by all");
}

/* The same in two halves, with an exchange in between. */
static void test_halves(struct ctx *ctx)
{
    int stop = rank == size / 2, status = comm_step_begin(ctx, 0, stop, -rank);
    double value = 5, sum[3] = {rank + 1, 0.25, -1};
    int64_t below = 0;
    test_two_in_flight(ctx);
    status = status ? status : comm_step_end(ctx, &stop, &value);
    all_ok(ctx, status == 0 && stop == 1 && value == 0,
           "a step in two halves: the wish to stop, the greatest value");
    status = comm_step_begin(ctx, 0, 0, rank == 0 ? NAN : 1);
    status = status ? status : comm_step_end(ctx, &stop, &value);
    all_ok(ctx, status == 0 && stop == 0 && isinf(value),
           "so is a value that is no number");
    status = comm_reduce_begin(ctx, sum, 3, COMM_SUM);
    all_ok(ctx, comm_reduce_begin(ctx, sum, 3, COMM_SUM) != 0,
           "a second one is refused while it is under way");
    error_clear(ctx);
    status = status ? status : comm_reduce_end(ctx, sum);
    all_ok(ctx,
           status == 0 && sum[0] == 0.5 * size * (size + 1) &&
               sum[1] == 0.25 * size && sum[2] == -size,
           "sums of all ranks");
    all_ok(ctx,
           comm_agree_begin(ctx, 0) == 0 && comm_agree_end(ctx) == 0 &&
               comm_exscan_int64(ctx, 1, &below) == 0 && below == rank,
           "all well is agreed on in two halves");
}

/* The two last ranks fail, in different ways: the lower one counts. */
static void test_failure(struct ctx *ctx)
{
    static const char *const told[] = {
        "all ranks hold the lowest failing rank's message",
        "so they do when a step carries it",
        "so they do when they agree in two halves",
        "so they do when a step in two halves carries it"};
    int first = size > 1 ? size - 2 : 0, status = 0, stop = 0;
    double value = 0;
    char want[100];
    snprintf(want, sizeof(want), "rank %d is out of paper\n", first);
    for (int how = 0; how < 4; how++) {
        status = 0;
        if (rank >= first)
            status = FAIL_AT(ctx, rank == first ? STATUS_INPUT : STATUS_IO,
                             "rank %d is out of paper", rank);
        if (how == 0)
            status = comm_agree(ctx, status);
        else if (how == 1)
            status = comm_step(ctx, status, &stop, &value);
        else if (how == 2)
            status = comm_agree_begin(ctx, status) ? STATUS_INTERNAL
                                                   : comm_agree_end(ctx);
        else
            status = comm_step_begin(ctx, status, stop, value)
                         ? STATUS_INTERNAL
                         : comm_step_end(ctx, &stop, &value);
        int same = status == STATUS_INPUT &&
                   ctx->error.status == STATUS_INPUT &&
                   error_prefix(ctx)[0] == '\0' &&
                   strncmp(ctx->error.text, want, strlen(want)) == 0;
        error_clear(ctx);
        all_ok(ctx, same, told[how]);
    }
}

static void test_speed(struct ctx *ctx)
{
    enum { N = 2000 };
    int stop = 0;
    double value = 0, start = timer_now();
    for (int i = 0; i < N; i++)
        comm_step(ctx, 0, &stop, &value);
    tap_note("a step's agreement takes %.2f us on %d ranks",
             1e6 * (timer_now() - start) / N, size);
}

int main(int argc, char **argv)
{
    struct ctx ctx = {0};
    if (comm_start(&argc, &argv, &ctx.comm) != 0)
        return 1;
    rank = comm_rank(ctx.comm);
    size = comm_size(ctx.comm);
    if (rank != 0)
        tap_silence();
    test_reductions(&ctx);
    test_spreading(&ctx);
    test_alltoall(&ctx);
    test_exchange(&ctx);
    test_long_messages(&ctx);
    test_two_in_flight(&ctx);
    test_agreement(&ctx);
    test_halves(&ctx);
    test_failure(&ctx);
    test_speed(&ctx);
    int status = tap_done();
    comm_finish(ctx.comm);
    return rank == 0 ? status : 0;
}
