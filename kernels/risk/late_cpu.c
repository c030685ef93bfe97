/* late_cpu.c: positions that look once, at one spot, are paid when they are
 * summed.
 *
 * Rows of payoffs of a large portfolio do not fit the first cache. Those of
 * forwards, European and digital options are functions of a spot at maturity:
 * the walk keeps the spots, a row for each date and factor that any of them
 * looks at, and each payoff is made in registers where it is added up.
 */
#include "kernels/risk/risk_cpu.h"

#include <stdlib.h>
#include <string.h>

static int is_late(const struct risk_store *s, int32_t number)
{
    const struct risk_instrument *q = &s->t.plan.instruments[number];
    return s->pays_once[number] && s->acc[number] == 0 && q->n_legs == 1 &&
           (q->payoff == RISK_FORWARD || q->payoff == RISK_EUROPEAN ||
            q->payoff == RISK_DIGITAL) &&
           (q->control == RISK_NO_CONTROL || q->control == RISK_UNDERLYING);
}

/* The slot of a date and factor, a new one where there is none yet: slots of
 * the step are those from `first` on. */
static int32_t slot_of(struct risk_late *l, int32_t first, int32_t factor)
{
    int32_t slot = first;
    while (slot < l->n_slots && l->factor[slot] != factor)
        slot++;
    if (slot == l->n_slots)
        l->factor[l->n_slots++] = factor;
    return slot;
}

int risk_late_make(struct risk_store *s)
{
    const struct risk_plan *p = &s->t.plan;
    struct risk_late *l = &s->late;
    const size_t n = (size_t)p->n_instruments, steps = (size_t)p->n_steps;
    int64_t kept = 0;
    l->slot = malloc((n + 1) * sizeof *l->slot);
    l->factor = calloc(n + 1, sizeof *l->factor);
    l->begin = calloc(steps + 1, sizeof *l->begin);
    l->events = calloc((size_t)p->n_events + 1, sizeof *l->events);
    l->event_begin = calloc(steps + 1, sizeof *l->event_begin);
    if (l->slot == NULL || l->factor == NULL || l->begin == NULL ||
        l->events == NULL || l->event_begin == NULL)
        return 1;
    for (size_t q = 0; q < n; q++)
        l->slot[q] = -1;
    for (int32_t k = 0; k < p->n_steps; k++) {
        for (int64_t e = s->t.event_begin[k]; e < s->t.event_begin[k + 1];
             e++) {
            const struct risk_event *v = &p->events[e];
            /* Scenarios' payoffs are subtracted from those of the base. */
            if (p->n_scenarios == 0 && is_late(s, v->instrument))
                l->slot[v->instrument] = slot_of(
                    l, l->begin[k], p->instruments[v->instrument].factor[0]);
            else
                l->events[kept++] = *v;
        }
        l->begin[k + 1] = l->n_slots;
        l->event_begin[k + 1] = kept;
    }
    return 0;
}

void risk_late_free(struct risk_late *l)
{
    free(l->slot);
    free(l->factor);
    free(l->begin);
    free(l->events);
    free(l->event_begin);
}

int32_t risk_late_rows(const struct risk_store *s)
{
    return s->late.n_slots * (s->t.plan.antithetic ? 2 : 1);
}

void risk_late_keep(const struct risk_store *s, struct risk_block *b, int32_t k,
                    double sign)
{
    const struct risk_late *l = &s->late;
    risk_row *to = b->late + (sign < 0 ? l->n_slots : 0);
    for (int32_t i = l->begin[k]; i < l->begin[k + 1]; i++)
        memcpy(to[i], b->spot[l->factor[i]], sizeof(risk_row));
}
