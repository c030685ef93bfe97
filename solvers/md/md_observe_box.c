/* md_observe_box.c: what a run shows of a box that changes, and of the pressure
 * by directions.
 */
#include "md.h"

#include <math.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"

static const struct {
    const char *name, *description;
} edges[3] = {{"box_x", "edge of the box along x"},
              {"box_y", "edge of the box along y"},
              {"box_z", "edge of the box along z"}};

static const struct {
    const char *name, *description;
} lower[3] = {{"box_xlo", "where the box begins along x"},
              {"box_ylo", "where the box begins along y"},
              {"box_zlo", "where the box begins along z"}};

static const struct {
    const char *name, *description;
} tensor[6] = {
    {"pressure_xx", "xx of the pressure tensor, (sum m v v + r f) / V"},
    {"pressure_yy", "yy of the pressure tensor"},
    {"pressure_zz", "zz of the pressure tensor"},
    {"pressure_xy", "xy of the pressure tensor"},
    {"pressure_xz", "xz of the pressure tensor"},
    {"pressure_yz", "yz of the pressure tensor"}};

/* Components that are shown: all where asked for, else those that a barostat
 * looks at one by one. */
static int n_components(const struct md *md)
{
    if (md->pressure_tensor || md->deform.kind)
        return 6;
    return md->barostat.n_groups > 1 || md->barostat.partly ? 3 : 0;
}

void md_observe_box_init(struct md *md)
{
    if (md->ramp.steps > 0)
        md_add_observable(md, "thermostat_temperature", MD_TEMPERATURE,
                          "temperature that the thermostat keeps", NULL, 0, 6);
    if (md_volume_changes(md)) {
        md_add_observable(md, "volume", MD_VOLUME, "volume of the box", "V", 0,
                          3);
        md_add_observable(md, "density", MD_DENSITY, "mass per volume", NULL, 0,
                          6);
        for (int d = 0; d < 3; d++)
            md_add_observable(md, edges[d].name, MD_LENGTH,
                              edges[d].description, NULL, 0, 6);
    }
    for (int d = 0; d < 3; d++)
        if (md->open.on[d])
            md_add_observable(md, lower[d].name, MD_LENGTH,
                              lower[d].description, NULL, 0, 6);
    for (int t = 0; t < n_components(md); t++)
        md_add_observable(md, tensor[t].name, MD_PRESSURE,
                          tensor[t].description, NULL, 0, 6);
    md_deform_observe_init(md);
}

double md_density_factor(const struct md *md)
{
    const double avogadro = 6.02214076e23, cubic_angstrom = 1e-24;
    int molar = md->units == UNITS_METAL || md->units == UNITS_REAL;
    return molar ? 1 / (avogadro * cubic_angstrom) : 1;
}

static double density_of(const struct md *md)
{
    double mass = 0;
    for (int s = 0; s < md->n_species; s++)
        mass += (double)md->species[s].count * md->species[s].mass;
    return mass / md_volume(md) * md_density_factor(md);
}

static int observe_tensor(struct ctx *ctx, struct md *md, double *values,
                          int *n)
{
    double sum[6], to_energy = md->constants->mvv_to_energy;
    double to_pressure =
        md->constants->energy_per_volume_to_pressure / md_volume(md);
    md->k->kinetic_tensor(md->store, sum);
    for (int t = 0; t < 6; t++)
        sum[t] = sum[t] * to_energy + md->sums.tensor[t];
    TRY(comm_sum_double(ctx, sum, 6));
    for (int t = 0; t < 6; t++)
        sum[t] = sum[t] * to_pressure + (t < 3 ? md->pair.tail_pressure : 0);
    for (int t = 0; t < n_components(md); t++)
        values[(*n)++] = sum[t];
    md_deform_observe(md, sum, values, n);
    return 0;
}

int md_observe_box(struct ctx *ctx, struct md *md, double *values, int *n)
{
    if (md->ramp.steps > 0)
        values[(*n)++] = md->temperature;
    if (md_volume_changes(md)) {
        values[(*n)++] = md_volume(md);
        values[(*n)++] = density_of(md);
        for (int d = 0; d < 3; d++)
            values[(*n)++] = md->box_length[d];
    }
    for (int d = 0; d < 3; d++)
        if (md->open.on[d])
            values[(*n)++] = md->box_lo[d];
    return n_components(md) > 0 ? observe_tensor(ctx, md, values, n) : 0;
}
