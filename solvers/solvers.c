#include "solvers/solver.h"

#include <string.h>

#define SOLVER(symbol) extern const struct solver symbol;
#include "solvers/solvers.def"
#undef SOLVER

static const struct solver *const solvers[] = {
#define SOLVER(symbol) &symbol,
#include "solvers/solvers.def"
#undef SOLVER
    NULL,
};

const struct solver *solver_at(int i)
{
    int n = (int)(sizeof(solvers) / sizeof(solvers[0])) - 1;
    return i >= 0 && i < n ? solvers[i] : NULL;
}

const struct solver *solver_find(const char *name)
{
    for (int i = 0; solvers[i] != NULL; i++)
        if (strcmp(solvers[i]->name, name) == 0)
            return solvers[i];
    return NULL;
}
