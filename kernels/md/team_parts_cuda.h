/* team_parts_cuda.h: a team of stores inside (team_cuda.h says what it is for):
 * what each notes, the memory that they share, and what those that run together
 * do step by step. Private to team_cuda.cu, team_calls_cuda.cu and
 * team_rebuild_cuda.cu.
 */
#ifndef WARPDECK_KERNELS_MD_TEAM_PARTS_CUDA_H
#define WARPDECK_KERNELS_MD_TEAM_PARTS_CUDA_H

#include "kernels/md/team_cuda.h"

enum { NOTES_MAX = 32, SENDS_MAX = 24 };
enum { ARGUMENTS_MAX = NOTES_MAX * 1024, ALIGNMENT = 16 };

/* A launch. */
struct team_note {
    const char *name;
    team_launcher joint;
    int loose; /* grids may differ */
    dim3 grid;
    size_t at, bytes; /* of its arguments */
};

/* What one store would do. */
struct team_notes {
    int n, n_sent;
    size_t bytes;
    struct team_note note[NOTES_MAX];
    struct {
        size_t at, bytes;
    } sent[SENDS_MAX];          /* parts of the store's result */
    struct step_result *result; /* the card's */
    alignas(ALIGNMENT) unsigned char arguments[ARGUMENTS_MAX];
};

struct cuda_team {
    int n, capacity;
    struct md_store **store;
    /* Of those that run together, in their order. */
    struct md_store **with;
    unsigned n_with;
    struct team_notes *notes;
    /* On the card, and the same pinned; room for `room` bytes of arguments. */
    struct device_array table, result;
    unsigned char *staged;
    struct step_result *results;
    size_t room, used; /* copies may be under way of what is used */
    struct device_array scratch, workspace; /* for sorting */
    uint32_t *below, *first; /* keys, and copies, of the stores before each */
    struct md_store **same;  /* all that are going to run together */
    unsigned n_same;
    int asked; /* results are, for those in `with` */
};

#define cuda_team_begin MD_NAME(cuda_team_begin)
#define cuda_team_flush MD_NAME(cuda_team_flush)
#define cuda_team_ask MD_NAME(cuda_team_ask)
#define cuda_team_take MD_NAME(cuda_team_take)
#define cuda_team_fetch MD_NAME(cuda_team_fetch)
#define cuda_team_sort MD_NAME(cuda_team_sort)
#define cuda_team_choose MD_NAME(cuda_team_choose)
#define cuda_team_lists MD_NAME(cuda_team_lists)

/* ---- team_cuda.cu; s: any of those that run together ---- */

/* Nobody has noted anything yet. */
void cuda_team_begin(struct cuda_team *t);
/* Launch what is noted: once for all where all have noted the same. */
int cuda_team_flush(struct md_store *s);
/* Have what all send brought to the host; wait for it, and give each its own;
 * the same of what was asked for at the end of the last time, if anything. */
int cuda_team_ask(struct md_store *s);
int cuda_team_take(struct md_store *s);
int cuda_team_fetch(struct md_store *s);

/* What each of those that run together does now, which is act(store, k). */
template <class Act> static int note_each(struct cuda_team *t, Act act)
{
    int status = 0;
    for (unsigned k = 0; k < t->n_with && status == 0; k++) {
        struct md_store *one = t->with[k];
        one->notes = &t->notes[k];
        status = act(one, k);
        one->notes = NULL;
    }
    return status;
}

/* ---- team_rebuild_cuda.cu: STEP_SORT, STEP_CHOOSE and STEP_LIST ---- */

int cuda_team_sort(struct md_store *s);
int cuda_team_choose(struct md_store *s);
int cuda_team_lists(struct md_store *s);

#endif
