/* driver_params.h: the keys that every deck has, whatever its solver: [run],
 * [domain], [output], [checkpoint].
 */
#ifndef WARPDECK_DRIVER_DRIVER_PARAMS_H
#define WARPDECK_DRIVER_DRIVER_PARAMS_H

struct param_table;

/* The table. run.solver's choices are the list of solvers. */
const struct param_table *driver_param_table(void);

/* The i-th table there is: the driver's, then each solver's; NULL behind the
 * last. *title and *solver (its name; "" of the driver) are set. */
const struct param_table *param_table_at(int i, const char **solver,
                                         const char **title);

#endif
