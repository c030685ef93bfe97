/* fluid_boundary.c: what the faces of the box do to the flow and to scalars. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "fluid.h"

static const char axis_name[] = "xyz";

enum { SIDES = 3 }; /* both faces, lower, upper */
static const char *const side_name[SIDES] = {"", "_min", "_max"};

/* "fluid.boundary.x_min" */
static const char *section_of(int d, int side, char *text)
{
    snprintf(text, FLUID_TEXT_MAX, "fluid.boundary.%c%s", axis_name[d],
             side_name[side]);
    return text;
}

static void read_face(struct params *p, const char *section, int d,
                      struct fluid_face *face)
{
    const char *type = params_string(p, section, "type");
    size_t n = 0;
    const double *velocity = params_doubles(p, section, "velocity", &n);
    face->type = strcmp(type, "wall") == 0        ? FLUID_NO_SLIP
                 : strcmp(type, "free-slip") == 0 ? FLUID_FREE_SLIP
                                                  : FLUID_PERIODIC;
    for (int c = 0; c < 3; c++)
        face->velocity[c] = velocity[c];
    if (face->type != FLUID_NO_SLIP)
        params_refuse(p, section, "velocity",
                      "only a wall has a velocity; this face is \"%s\"", type);
    else if (velocity[d] != 0)
        params_error(p, section, "velocity",
                     "%s.velocity: a wall across %c that moves along %c by %g "
                     "would push through the face; that component must be 0",
                     section, axis_name[d], axis_name[d], velocity[d]);
}

/* The last section that says something of a face, or NULL where none does. */
static const char *find_section(struct params *p, int d, int side, char *text)
{
    if (params_has_section(p, section_of(d, side, text)))
        return text;
    if (params_has_section(p, section_of(d, 0, text)))
        return text;
    return NULL;
}

/* Both for a direction and for one of its faces is once too often. */
static void check_twice(struct params *p, int d)
{
    char both[FLUID_TEXT_MAX], one[FLUID_TEXT_MAX];
    if (!params_has_section(p, section_of(d, 0, both)))
        return;
    for (int side = 1; side < SIDES; side++)
        if (params_has_section(p, section_of(d, side, one)))
            params_error(p, one, "type",
                         "fluid.boundary.%c says already what both faces do; "
                         "name x_min and x_max one by one instead",
                         axis_name[d]);
}

static void read_direction(struct params *p, struct fluid *f, int d)
{
    char text[FLUID_TEXT_MAX];
    char both[FLUID_TEXT_MAX];
    int named = 0;
    check_twice(p, d);
    section_of(d, 0, both);
    for (int side = 0; side < 2; side++) {
        const char *section = find_section(p, d, side + 1, text);
        if (section && side == 1 && strcmp(section, both) == 0 && named)
            f->setup.face[d][1] = f->setup.face[d][0]; /* complained once */
        else if (section)
            read_face(p, section, d, &f->setup.face[d][side]);
        named += section != NULL;
    }
    int periodic[2] = {f->setup.face[d][0].type == FLUID_PERIODIC,
                       f->setup.face[d][1].type == FLUID_PERIODIC};
    if (periodic[0] == periodic[1])
        return;
    int at = periodic[0]; /* the side that is not periodic, or is named */
    if (!params_has_section(p, section_of(d, at + 1, text)))
        section_of(d, 2 - at, text);
    params_error(p, text, "type",
                 named == 2 ? "the faces of %c do not match: one is periodic, "
                              "the other is not; a flow that leaves by one "
                              "comes in by the other"
                            : "the other face of %c is not named: it would be "
                              "periodic, this one is not",
                 axis_name[d]);
}

void fluid_read_boundary(struct params *p, struct fluid *f)
{
    for (int d = 0; d < 3; d++)
        read_direction(p, f, d);
}

/* ---- scalars ---- */

/* One face's key, "value_x_min" or "value_x"; NULL where neither is set. */
static const char *face_key(struct params *p, int index, const char *what,
                            int d, int side, char *key)
{
    snprintf(key, FLUID_TEXT_MAX, "%s_%c%s", what, axis_name[d],
             side_name[side + 1]);
    if (params_is_set_at(p, "fluid.scalar", index, key))
        return key;
    snprintf(key, FLUID_TEXT_MAX, "%s_%c", what, axis_name[d]);
    return params_is_set_at(p, "fluid.scalar", index, key) ? key : NULL;
}

static void read_scalar_face(struct params *p, struct fluid *f, int i, int d,
                             int side)
{
    struct fluid_scalar *s = &f->setup.scalar[i];
    char key[2][FLUID_TEXT_MAX];
    const char *value = face_key(p, i, "value", d, side, key[0]);
    const char *flux = face_key(p, i, "flux", d, side, key[1]);
    const char *given = value ? value : flux;
    int periodic = f->setup.face[d][side].type == FLUID_PERIODIC;
    s->face[d][side].type = periodic ? FLUID_SCALAR_PERIODIC
                            : value  ? FLUID_SCALAR_VALUE
                                     : FLUID_SCALAR_FLUX;
    if (given && periodic)
        params_error_at(p, "fluid.scalar", i, given,
                        "%s: the flow is periodic along %c, so are scalars",
                        given, axis_name[d]);
    else if (value && flux)
        params_error_at(p, "fluid.scalar", i, flux,
                        "give %s or %s of a face, not both", value, flux);
    else if (given)
        s->face[d][side].value = params_double_at(p, "fluid.scalar", i, given);
}

/* Names that mean something else in the results. */
static int is_taken(const struct fluid *f, int i, const char *name)
{
    for (int n = 0; fluid_field_names[n]; n++)
        if (strcmp(name, fluid_field_names[n]) == 0)
            return 1;
    for (int j = 0; j < i; j++)
        if (strcmp(name, f->tracer[j].name) == 0)
            return 1;
    return 0;
}

static void read_name(struct params *p, struct fluid *f, int i)
{
    const char *name = params_string_at(p, "fluid.scalar", i, "name");
    if (name[0] == '\0' || strlen(name) >= FLUID_NAME_MAX ||
        text_has_control(name) || strpbrk(name, " /\".") != NULL)
        params_error_at(p, "fluid.scalar", i, "name",
                        "a name has 1 to %d characters, without blanks, "
                        "points, quotes and slashes",
                        FLUID_NAME_MAX - 1);
    else if (is_taken(f, i, name))
        params_error_at(p, "fluid.scalar", i, "name",
                        "there is already a field '%s'", name);
    snprintf(f->tracer[i].name, FLUID_NAME_MAX, "%s", name);
}

/* The direction with a fixed value on both faces; -1: none. */
static int find_across(const struct fluid_scalar *s)
{
    for (int d = 2; d >= 0; d--)
        if (s->face[d][0].type == FLUID_SCALAR_VALUE &&
            s->face[d][1].type == FLUID_SCALAR_VALUE)
            return d;
    return -1;
}

static void read_scalar(struct params *p, struct fluid *f, int i)
{
    struct fluid_scalar *s = &f->setup.scalar[i];
    struct fluid_tracer *t = &f->tracer[i];
    read_name(p, f, i);
    s->diffusivity = params_double_at(p, "fluid.scalar", i, "diffusivity");
    s->reference = params_double_at(p, "fluid.scalar", i, "reference");
    double expansion = params_double_at(p, "fluid.scalar", i, "expansion");
    if (expansion != 0 && !params_is_set(p, "fluid", "gravity"))
        params_error_at(p, "fluid.scalar", i, "expansion",
                        "expansion acts through fluid.gravity, which is "
                        "missing");
    else if (expansion != 0) {
        size_t n = 0;
        const double *g = params_doubles(p, "fluid", "gravity", &n);
        for (int d = 0; d < 3; d++)
            s->buoyancy[d] = -expansion * g[d];
    }
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            read_scalar_face(p, f, i, d, side);
    const char *profile = params_string_at(p, "fluid.scalar", i, "initial");
    t->profile = strcmp(profile, "linear") == 0 ? FLUID_SCALAR_LINEAR
                                                : FLUID_SCALAR_UNIFORM;
    t->value = params_double_at(p, "fluid.scalar", i, "value");
    t->perturbation = params_double_at(p, "fluid.scalar", i, "perturbation");
    t->across = find_across(s);
    if (t->profile == FLUID_SCALAR_LINEAR && t->across < 0)
        params_error_at(p, "fluid.scalar", i, "initial",
                        "a linear start needs a fixed value on two opposite "
                        "faces");
}

void fluid_read_scalars(struct params *p, struct fluid *f)
{
    int n = params_count(p, "fluid.scalar");
    if (n > FLUID_SCALARS_MAX)
        params_error_at(p, "fluid.scalar", FLUID_SCALARS_MAX, "name",
                        "at most %d scalars", FLUID_SCALARS_MAX);
    f->setup.n_scalars = n < FLUID_SCALARS_MAX ? n : FLUID_SCALARS_MAX;
    int acts = 0;
    for (int i = 0; i < f->setup.n_scalars; i++) {
        read_scalar(p, f, i);
        acts |= params_double_at(p, "fluid.scalar", i, "expansion") != 0;
    }
    if (!acts && params_is_set(p, "fluid", "gravity"))
        params_error(p, "fluid", "gravity",
                     "gravity acts through the expansion of scalars, and none "
                     "has one; a uniform force is fluid.forcing.acceleration");
}
