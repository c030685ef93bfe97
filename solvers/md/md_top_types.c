/* md_top_types.c: what a GROMACS topology says of types: of atoms, of pairs and
 * of terms along bonds.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "md_top.h"

const char *const top_sections[TOP_KINDS] = {
    "bonds", "angles", "dihedrals", "pairs", "constraints", "settles", "cmap"};

static const char *const type_sections[TOP_KINDS] = {
    "bondtypes", "angletypes", "dihedraltypes", NULL, "constrainttypes",
    NULL,        NULL};

int top_size(int kind)
{
    static const int sizes[TOP_KINDS] = {2, 3, 4, 2, 2, 1, TOP_CMAP_ATOMS};
    return sizes[kind];
}

/* ---- names ---- */

int top_name(struct top_names *names, const char *name, int add)
{
    for (int k = 0; k < names->n; k++)
        if (strcmp(names->name[k], name) == 0)
            return k;
    if (!add || strlen(name) >= TOP_NAME_MAX)
        return -1;
    if (names->n == names->capacity) {
        int grown = 2 * names->capacity + 64;
        void *fresh = realloc(names->name, (size_t)grown * sizeof *names->name);
        if (!fresh)
            return -2;
        names->name = fresh;
        names->capacity = grown;
    }
    snprintf(names->name[names->n], TOP_NAME_MAX, "%s", name);
    return names->n++;
}

int top_read_name(struct top *top, int w, int wild, int *name)
{
    struct top_text *t = &top->text;
    if (w >= t->n_words)
        return top_fail(t, "the name of a type is missing");
    *name = wild && strcmp(t->word[w], "X") == 0
                ? TOP_ANY
                : top_name(&top->names, t->word[w], 1);
    if (*name == -2)
        return FAIL(t->ctx, STATUS_MEMORY, "no memory for names of types");
    if (*name == -1 && strcmp(t->word[w], "X") != 0)
        return top_fail(t, "'%.60s': a name has at most %d characters",
                        t->word[w], TOP_NAME_MAX - 1);
    return 0;
}

/* ---- [ defaults ] ---- */

static int read_defaults(struct top *top)
{
    struct top_text *t = &top->text;
    int64_t nbfunc, rule;
    if (top->has_defaults)
        return top_fail(t, "the section stands twice");
    TRY(top_whole(t, 0, 1, 2, "nbfunc", &nbfunc));
    if (nbfunc != 1)
        return top_fail(t, "nbfunc 2, Buckingham, is not read from a "
                           "topology; Lennard-Jones, 1, is");
    TRY(top_whole(t, 1, 1, 3, "comb-rule", &rule));
    top->combination = (int)rule;
    top->fudge_lj = top->fudge_qq = 1;
    top->generate_pairs = t->n_words > 2 && tolower(t->word[2][0]) == 'y';
    if (t->n_words > 2 && !top->generate_pairs && tolower(t->word[2][0]) != 'n')
        return top_fail(t, "gen-pairs: '%.20s' is neither yes nor no",
                        t->word[2]);
    if (t->n_words > 3)
        TRY(top_real(t, 3, "fudgeLJ", &top->fudge_lj));
    if (t->n_words > 4)
        TRY(top_real(t, 4, "fudgeQQ", &top->fudge_qq));
    if (t->n_words > 5 && strcmp(t->word[5], "12") != 0)
        return top_fail(t, "the repulsion has the power 12, not %.20s",
                        t->word[5]);
    top->has_defaults = 1;
    return 0;
}

/* ---- [ atomtypes ] ---- */

static int is_letter(const char *word)
{
    return isalpha((unsigned char)word[0]) && word[1] == '\0';
}

/* Bonded type and atomic number may both be left out: the letter of the kind of
 * particle tells which columns there are, as GROMACS does it. */
static int read_atomtype(struct top *top)
{
    struct top_text *t = &top->text;
    struct top_atomtype type = {0};
    int letter = -1, other = 0;
    for (int w = 5; w >= 3; w--)
        if (w < t->n_words && is_letter(t->word[w])) {
            letter = w;
            break;
        }
    if (letter < 0)
        return top_fail(t, "expected name, (bonded type,) (atomic number,) "
                           "mass, charge, particle type as a letter and two "
                           "numbers");
    TRY(top_read_name(top, 0, 0, &type.name));
    type.bonded = type.name;
    if (letter == 5 || (letter == 4 && isalpha((unsigned char)t->word[1][0])))
        TRY(top_read_name(top, 1, 0, &type.bonded));
    TRY(top_real(t, letter - 2, "the mass", &type.mass));
    TRY(top_real(t, letter - 1, "the charge", &type.charge));
    TRY(top_real(t, letter + 1, "the first number of Lennard-Jones", &type.v));
    TRY(top_real(t, letter + 2, "the second number of Lennard-Jones", &type.w));
    if (t->n_words != letter + 3)
        return top_fail(t, "%d columns instead of %d", t->n_words, letter + 3);
    type.particle = (char)toupper((unsigned char)t->word[letter][0]);
    for (size_t k = 0; k < top->n_types && !other; k++)
        if (top->types[k].name == type.name) { /* the last one counts */
            top->types[k] = type;
            other = 1;
        }
    if (other)
        return 0;
    TRY(top_grow(t, &top->types, &top->cap_types, top->n_types,
                 sizeof *top->types));
    top->types[top->n_types++] = type;
    return 0;
}

const struct top_atomtype *top_find_type(const struct top *top, int name)
{
    for (size_t k = 0; k < top->n_types; k++)
        if (top->types[k].name == name)
            return &top->types[k];
    return NULL;
}

/* ---- [ nonbond_params ], [ pairtypes ] ---- */

static int read_pairtype(struct top *top, int which)
{
    struct top_text *t = &top->text;
    struct top_pairtype pair;
    int64_t funct;
    TRY(top_read_name(top, 0, 0, &pair.a));
    TRY(top_read_name(top, 1, 0, &pair.b));
    TRY(top_whole(t, 2, 1, 2, "the function", &funct));
    if (funct != 1)
        return top_fail(t,
                        "function %" PRId64 " is not computed here; 1, "
                        "Lennard-Jones, is",
                        funct);
    TRY(top_real(t, 3, "the first number of Lennard-Jones", &pair.v));
    TRY(top_real(t, 4, "the second number of Lennard-Jones", &pair.w));
    if (t->n_words != 5 && t->n_words != 7)
        return top_fail(t, "%d columns instead of 5", t->n_words);
    struct top_pairtype *known =
        (struct top_pairtype *)(uintptr_t)top_find_pair(top, which, pair.a,
                                                        pair.b);
    if (known) {
        *known = pair;
        return 0;
    }
    TRY(top_grow(t, &top->pairs[which], &top->cap_pairs[which],
                 top->n_pairs[which], sizeof pair));
    top->pairs[which][top->n_pairs[which]++] = pair;
    return 0;
}

const struct top_pairtype *top_find_pair(const struct top *top, int which,
                                         int a, int b)
{
    for (size_t k = 0; k < top->n_pairs[which]; k++) {
        const struct top_pairtype *p = &top->pairs[which][k];
        if ((p->a == a && p->b == b) || (p->a == b && p->b == a))
            return p;
    }
    return NULL;
}

/* ---- functions ---- */

int top_numbers(int kind, int funct)
{
    static const struct {
        int kind, funct, numbers;
    } known[] = {
        {TOP_BONDS, 1, 2},       {TOP_BONDS, 3, 3},       {TOP_BONDS, 5, 0},
        {TOP_BONDS, 6, 2},       {TOP_BONDS, 7, 2},       {TOP_ANGLES, 1, 2},
        {TOP_ANGLES, 5, 4},      {TOP_DIHEDRALS, 1, 3},   {TOP_DIHEDRALS, 2, 2},
        {TOP_DIHEDRALS, 3, 6},   {TOP_DIHEDRALS, 4, 3},   {TOP_DIHEDRALS, 5, 4},
        {TOP_DIHEDRALS, 9, 3},   {TOP_PAIRS, 1, 2},       {TOP_PAIRS, 2, 5},
        {TOP_CONSTRAINTS, 1, 1}, {TOP_CONSTRAINTS, 2, 1}, {TOP_SETTLES, 1, 2},
        {TOP_CMAPS, 1, 0}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (known[k].kind == kind && known[k].funct == funct)
            return known[k].numbers;
    return -1;
}

/* What cannot be computed, said where it stands. */
static int check_numbers(struct top_text *t, int kind, int funct,
                         const double *v)
{
    int periodic =
        kind == TOP_DIHEDRALS && (funct == 1 || funct == 4 || funct == 9);
    if (periodic && (floor(v[2]) < v[2] || fabs(v[2]) > 6))
        return top_fail(t, "the multiplicity, %g, is a whole number up to 6",
                        v[2]);
    if (kind == TOP_BONDS && funct == 7 && !(v[0] > 0))
        return top_fail(t, "the greatest length of a FENE bond, %g, is above 0",
                        v[0]);
    if (kind == TOP_CONSTRAINTS && !(v[0] > 0))
        return top_fail(t, "the length, %g, is above 0", v[0]);
    return 0;
}

int top_read_numbers(struct top *top, int kind, int funct, int w, double *value,
                     int *n)
{
    struct top_text *t = &top->text;
    int wanted = top_numbers(kind, funct), given = t->n_words - w;
    *n = 0;
    if (given <= 0 || wanted == 0)
        return 0;
    if (given != wanted && given != 2 * wanted)
        return top_fail(t, "function %d takes %d numbers, not %d", funct,
                        wanted, given);
    for (int k = 0; k < given; k++) {
        double number;
        TRY(top_real(t, w + k, "a parameter", &number));
        if (k < wanted)
            value[k] = number;
        else if (fabs(number - value[k - wanted]) > 0)
            return top_fail(t, "a second state with other parameters: free "
                               "energies are not computed here");
    }
    *n = wanted;
    return check_numbers(t, kind, funct, value);
}

/* ---- [ bondtypes ] and the like ---- */

/* Functions whose types stand in one list: single and several periodic. */
static int list_of(int kind, int funct)
{
    return kind == TOP_DIHEDRALS && funct == 9 ? 1 : funct;
}

static int same_types(const struct top_bondedtype *a,
                      const struct top_bondedtype *b, int size)
{
    int ahead = 1, back = 1;
    for (int k = 0; k < size; k++) {
        ahead &= a->type[k] == b->type[k];
        back &= a->type[k] == b->type[size - 1 - k];
    }
    return ahead || back;
}

static int same_values(const struct top_bondedtype *a,
                       const struct top_bondedtype *b)
{
    for (int k = 0; k < a->n; k++)
        if (fabs(a->value[k] - b->value[k]) > 0)
            return 0;
    return a->n == b->n;
}

/* Add a type; one that is there already is replaced. Lines of dihedrals of
 * function 9 that follow one another add up, though not in two places. */
static int add_bonded(struct top *top, int kind,
                      const struct top_bondedtype *type)
{
    struct top_text *t = &top->text;
    struct top_bondedtype *list = top->bonded[kind];
    size_t n = top->n_bonded[kind];
    int size = top_size(kind),
        several = kind == TOP_DIHEDRALS && type->funct == 9;
    int goes_on = several && n > 0 && list[n - 1].funct == 9 &&
                  same_types(&list[n - 1], type, size);
    for (size_t k = 0; k < n && !goes_on; k++) {
        if (list_of(kind, list[k].funct) != list_of(kind, type->funct) ||
            !same_types(&list[k], type, size))
            continue;
        if (several && !same_values(&list[k], type))
            return top_fail(t, "dihedrals of function 9 for these types "
                               "stand at another place already; their lines "
                               "have to follow one another");
        list[k] = *type;
        return 0;
    }
    TRY(top_grow(t, &top->bonded[kind], &top->cap_bonded[kind], n,
                 sizeof *type));
    top->bonded[kind][top->n_bonded[kind]++] = *type;
    return 0;
}

static int read_bondedtype(struct top *top, int kind)
{
    struct top_text *t = &top->text;
    struct top_bondedtype type = {.type = {TOP_ANY, TOP_ANY, TOP_ANY, TOP_ANY}};
    int size = top_size(kind), w = size, dihedral = kind == TOP_DIHEDRALS;
    int64_t funct;
    int is_short = dihedral && t->n_words > 2 &&
                   isdigit((unsigned char)t->word[2][0]) &&
                   t->word[2][1] == '\0';
    if (is_short) { /* two types: the middle ones, or the ends of impropers */
        int first = t->word[2][0] == '2' ? 0 : 1;
        TRY(top_read_name(top, 0, 1, &type.type[first]));
        TRY(top_read_name(top, 1, 1, &type.type[3 - first]));
        w = 2;
    }
    for (int k = 0; k < size && !is_short; k++)
        TRY(top_read_name(top, k, dihedral, &type.type[k]));
    TRY(top_whole(t, w, 1, 20, "the function", &funct));
    type.funct = (int)funct;
    if (top_numbers(kind, type.funct) < 0)
        return 0; /* refused where an atom has it */
    TRY(top_read_numbers(top, kind, type.funct, w + 1, type.value, &type.n));
    if (type.n == 0 && top_numbers(kind, type.funct) > 0)
        return top_fail(t, "the parameters are missing");
    return add_bonded(top, kind, &type);
}

/* How many of the types are met by name; -1: the entry is for others. */
static int match(const struct top_bondedtype *entry, const int *type, int size,
                 int back)
{
    int n = 0;
    for (int k = 0; k < size; k++) {
        int of = entry->type[back ? size - 1 - k : k];
        if (of != TOP_ANY && of != type[k])
            return -1;
        n += of != TOP_ANY;
    }
    return n;
}

/* Of several that fit, the one with the fewest X; of these the first. */
const struct top_bondedtype *top_find_bonded(const struct top *top, int kind,
                                             int funct, const int *type,
                                             size_t *n)
{
    const struct top_bondedtype *list = top->bonded[kind], *best = NULL;
    int size = top_size(kind), most = -1;
    *n = 0;
    for (size_t k = 0; k < top->n_bonded[kind]; k++) {
        if (list_of(kind, list[k].funct) != list_of(kind, funct))
            continue;
        int ahead = match(&list[k], type, size, 0);
        int back = match(&list[k], type, size, 1);
        int met = ahead > back ? ahead : back;
        if (met > most) {
            most = met;
            best = &list[k];
        }
    }
    if (!best)
        return NULL;
    const struct top_bondedtype *end = list + top->n_bonded[kind];
    for (*n = 1; best->funct == 9 && best + *n < end; ++*n)
        if (best[*n].funct != 9 || !same_types(&best[*n], best, size))
            break;
    return best;
}

int top_read_types(struct top *top, int *known)
{
    const char *name = top->text.section;
    *known = 1;
    if (strcmp(name, "defaults") == 0)
        return read_defaults(top);
    if (strcmp(name, "atomtypes") == 0)
        return read_atomtype(top);
    if (strcmp(name, "nonbond_params") == 0)
        return read_pairtype(top, 0);
    if (strcmp(name, "pairtypes") == 0)
        return read_pairtype(top, 1);
    if (strcmp(name, "cmaptypes") == 0)
        return top_read_cmaptype(top);
    for (int k = 0; k < TOP_KINDS; k++)
        if (type_sections[k] && strcmp(name, type_sections[k]) == 0)
            return read_bondedtype(top, k);
    *known = 0;
    return 0;
}
