/* field.h: one thing that can be written to a file.
 *
 * A solver hands out a table of fields; the file layouts turn fields into
 * datasets. A solver thus never sees HDF5, and a new field is one row.
 */
#ifndef WARPDECK_DOMAIN_FIELD_H
#define WARPDECK_DOMAIN_FIELD_H

#include <stdint.h>

enum field_type { FIELD_DOUBLE, FIELD_INT32, FIELD_INT64, FIELD_FLOAT };

/* A block of rows of a particle field: rows [first, first + n) of `total`, each
 * of `components` numbers, at `values` (borrowed). */
struct field {
    const char *name;        /* "position" */
    const char *unit;        /* "angstrom", "" without unit */
    const char *description; /* one line */
    enum field_type type;
    int components;
    int constant; /* 1: does not change with time; written once */
    int64_t total, first, n;
    const void *values;
};

/* One picture of the particles: what H5MD calls a time step. */
struct field_frame {
    int64_t step;
    double time;
    const char *time_unit;
    const char *length_unit;
    double box_edges[3];
    double box_tilt[3]; /* the edges are (x, 0, 0), (xy, y, 0), (xz, yz, z) */
    double box_origin[3];
    int periodic[3];
    int n_fields;
    const struct field *fields;
};

/* One field on a grid: this rank's block, values[k][j][i][component] (x fastest
 * but for the components), borrowed. */
struct grid_field {
    const char *name;        /* "velocity" */
    const char *unit;        /* "" without unit */
    const char *description; /* one line */
    int components;
    const double *values;
    const float *single; /* the same in single precision, in place of values;
                          * else NULL */
};

/* One picture of a flow: fields at the centers of the cells of a Cartesian
 * grid, which may be stretched along z. */
struct grid_frame {
    int64_t step;
    double time;
    const char *time_unit, *length_unit;
    int64_t cells[3];           /* of the whole grid */
    int64_t first[3], local[3]; /* this rank's block */
    double origin[3], length[3];
    double spacing[3];        /* mean cell size */
    const double *centers[3]; /* of the whole grid, [cells[d]] */
    const double *faces[3];   /* [cells[d] + 1] */
    int stretched;            /* 1: centers[2] are not evenly spaced */
    int periodic[3];
    int n_fields;
    const struct grid_field *fields;
};

/* A scalar of time that a solver observes. */
struct observable {
    const char *name;        /* "potential_energy" */
    const char *unit;        /* "" in lj */
    const char *description; /* one line */
    const char *heading; /* column of the terminal's table; NULL: not there */
    int per_particle;    /* the table shows value / particle count */
    int decimals;        /* digits after the point in the table */
};

/* A finished table, e.g. a radial distribution function: columns of equal
 * length with names and units, written once at the end of a run (rank 0's
 * values count). */
struct result_table {
    const char *root;        /* where its group stands; NULL: "/statistics" */
    const char *group;       /* "radial_distribution/A-A" */
    const char *description; /* one line */
    int n_columns;
    int64_t n_rows;
    const char *const *names;
    const char *const *units;
    const double *const *columns;
    /* Columns of texts: texts[c] is their n_rows texts, or NULL where column c
     * has numbers. NULL: there are none. */
    const char *const *const *texts;
};

#endif
