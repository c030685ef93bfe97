/* mesh_messages.c: messages to and from a fixed set of ranks, for the mesh. */
#include "domain/mesh_parts.h"

#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"

void mesh_messages_free(struct mesh_messages *m)
{
    comm_exchange_destroy(m->peers);
    free(m->rank);
    free(m->send);
    free(m->recv);
    free((void *)m->send_at);
    free(m->recv_at);
    free(m->send_bytes);
    free(m->recv_bytes);
    free(m->out);
    free(m->in);
    *m = (struct mesh_messages){0};
}

int mesh_members(struct mesh_messages *m, size_t n)
{
    m->rank = calloc(n + 1, sizeof *m->rank);
    m->send = calloc(n + 1, sizeof *m->send);
    m->recv = calloc(n + 1, sizeof *m->recv);
    return m->rank && m->send && m->recv ? 0 : -1;
}

int mesh_connect(struct ctx *ctx, struct mesh_messages *m, int rank,
                 size_t most)
{
    size_t n = (size_t)m->n, out = 0, in = 0;
    int others = 0, *ranks = malloc((n + 1) * sizeof *ranks);
    m->self = -1;
    for (int i = 0; i < m->n && ranks; i++) {
        if (m->rank[i] == rank) {
            m->self = i;
            m->send[i] = m->recv[i] = 0;
        } else {
            ranks[others++] = m->rank[i];
        }
        out += m->send[i];
        in += m->recv[i];
    }
    m->send_at = calloc(n + 1, sizeof *m->send_at);
    m->recv_at = calloc(n + 1, sizeof *m->recv_at);
    m->send_bytes = calloc(n + 1, sizeof *m->send_bytes);
    m->recv_bytes = calloc(n + 1, sizeof *m->recv_bytes);
    m->out = malloc((out * most + 1) * sizeof *m->out);
    m->in = malloc((in * most + 1) * sizeof *m->in);
    int status = 0;
    if (!ranks || !m->send_at || !m->recv_at || !m->send_bytes ||
        !m->recv_bytes || !m->out || !m->in)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the mesh's messages");
    status = comm_agree(ctx, status);
    if (status == 0)
        status = comm_exchange_create(ctx, others, ranks, &m->peers);
    free(ranks);
    return status;
}

int mesh_send(struct ctx *ctx, struct mesh_messages *m, int times)
{
    size_t out = 0, in = 0;
    int p = 0;
    for (int i = 0; i < m->n; i++) {
        if (i != m->self) {
            m->send_at[p] = m->out + out;
            m->recv_at[p] = m->in + in;
            m->send_bytes[p] = m->send[i] * (size_t)times * sizeof(double);
            m->recv_bytes[p] = m->recv[i] * (size_t)times * sizeof(double);
            p++;
        }
        out += m->send[i] * (size_t)times;
        in += m->recv[i] * (size_t)times;
    }
    if (p == 0)
        return 0;
    TRY(comm_exchange_post(ctx, m->peers, m->send_at, m->send_bytes, m->recv_at,
                           m->recv_bytes));
    return comm_exchange_wait(ctx, m->peers);
}

const double *mesh_message(const struct mesh_messages *m, int i, int times)
{
    size_t at = 0;
    for (int k = 0; k < i; k++)
        at += m->recv[k] * (size_t)times;
    return m->in + at;
}

void mesh_reverse(struct mesh_messages *m)
{
    size_t *numbers = m->send;
    double *buffer = m->out;
    m->send = m->recv;
    m->recv = numbers;
    m->out = m->in;
    m->in = buffer;
}
