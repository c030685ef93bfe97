/* risk_results.h: tables of NAME.h5 while they are being filled.
 */
#ifndef WARPDECK_SOLVERS_RISK_RISK_RESULTS_H
#define WARPDECK_SOLVERS_RISK_RISK_RESULTS_H

#include <stdint.h>

#include "domain/field.h"
#include "solvers/risk/risk.h"

enum { RISK_TABLES_MAX = 24, RISK_COLUMNS_MAX = RISK_FACTORS_MAX + 1 };

/* A table that is being filled. */
struct risk_filling {
    struct result_table table;
    int n_columns;
    const char *names[RISK_COLUMNS_MAX], *units[RISK_COLUMNS_MAX];
    const double *columns[RISK_COLUMNS_MAX];
    const char *const *texts[RISK_COLUMNS_MAX];
};

struct risk_tables {
    int n;
    struct result_table tables[RISK_TABLES_MAX];
    struct risk_filling filling[RISK_TABLES_MAX];
    void *owned[RISK_TABLES_MAX * RISK_COLUMNS_MAX]; /* to be freed */
    int n_owned;
    int failed; /* no memory */
};

/* A table below /risk, of at most RISK_TABLES_MAX; group and description must
 * live as long as the run. */
struct risk_filling *risk_table_add(struct risk_tables *t, const char *group,
                                    int64_t n_rows, const char *description);
/* n + 1 items, owned by the tables; NULL, and t->failed, without memory. */
void *risk_table_own(struct risk_tables *t, size_t n, size_t size);
/* A column's n_rows numbers or texts, to be filled in; NULL as above.
 * "" is a pure number, or the currency of the spots. */
double *risk_table_numbers(struct risk_tables *t, struct risk_filling *f,
                           const char *name);
const char **risk_table_texts(struct risk_tables *t, struct risk_filling *f,
                              const char *name);

#endif
