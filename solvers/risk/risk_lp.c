/* risk_lp.c: the linear programme of the mean-CVaR frontier, by GLPK; the home
 * of <glpk.h>.
 *
 * Rockafellar and Uryasev (2000), with c = 1 / ((1 - level) N): minimise
 *     a + c sum_s u_s   over   u_s >= 0, u_s >= -r_s.w - a, sum w = 1,
 *                              m.w >= target, l <= w <= h,
 * has a row for each scenario. Its dual has one for each asset and one more,
 * which a simplex method walks through in a small fraction of the time:
 *     maximise  k + target e + sum_i (l_i p_i - h_i q_i)   over
 *     sum_s y_s = 1/c,  sum_s y_s r_si + k + e m_i + p_i - q_i = 0,
 *     0 <= y_s <= 1, e, p, q >= 0
 * (all variables times 1/c, so that the bounds of y are of the size of 1). The
 * weights are the multipliers of the assets' rows. Another target is another
 * coefficient of the objective: the last solution stays feasible.
 */
#include "solvers/risk/risk_lp.h"

#include <math.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/error.h"

#ifdef HAVE_GLPK

#include <glpk.h>
#include <setjmp.h>

struct risk_lp {
    int n;
    int64_t scenarios;
    double units;                          /* 1/c */
    const struct risk_lp_problem *problem; /* while it is made */
    double *lower, *upper;
    glp_prob *glp;
    jmp_buf broken; /* where GLPK goes in place of abort() */
};

const char *risk_lp_version(void)
{
    return glp_version();
}

/* GLPK's own checks have failed, or there is no memory: its hook must not
 * return. */
static void give_up(void *user)
{
    struct risk_lp *lp = user;
    longjmp(lp->broken, 1);
}

/* After that GLPK's memory is in an unknown state: all of it goes. */
static int fail_broken(struct ctx *ctx, struct risk_lp *lp)
{
    glp_error_hook(NULL, NULL);
    glp_free_env();
    lp->glp = NULL;
    return FAIL(ctx, STATUS_MEMORY,
                "GLPK gave up, most likely for want of memory, with %lld "
                "scenarios of %d assets; use fewer",
                (long long)lp->scenarios, lp->n);
}

/* ---- the problem ---- */

/* Columns behind the scenarios': k, e, then p and q of each asset. */
enum { COLUMN_SUM = 1, COLUMN_TARGET, COLUMN_BOUNDS };

static int add_entry(int at, int row, int column, double value, int *rows,
                     int *columns, double *values)
{
    rows[at] = row;
    columns[at] = column;
    values[at] = value;
    return at + 1;
}

/* Row 1: the sum of y; row 2 + i: asset i. Returns how many there are. */
static int fill_matrix(const struct risk_lp_problem *p, int *rows, int *columns,
                       double *values)
{
    const int m = (int)p->scenarios;
    int at = 1;
    for (int s = 0; s < m; s++) {
        at = add_entry(at, 1, s + 1, 1, rows, columns, values);
        for (int i = 0; i < p->n; i++)
            at = add_entry(at, 2 + i, s + 1,
                           p->returns[(int64_t)i * p->scenarios + s], rows,
                           columns, values);
    }
    for (int i = 0; i < p->n; i++) {
        const int bounds = m + COLUMN_BOUNDS + 2 * i;
        at = add_entry(at, 2 + i, m + COLUMN_SUM, 1, rows, columns, values);
        at = add_entry(at, 2 + i, m + COLUMN_TARGET, p->mean[i], rows, columns,
                       values);
        at = add_entry(at, 2 + i, bounds, 1, rows, columns, values);
        at = add_entry(at, 2 + i, bounds + 1, -1, rows, columns, values);
    }
    return at - 1;
}

static void fill_bounds(struct risk_lp *lp, const struct risk_lp_problem *p)
{
    const int m = (int)p->scenarios;
    glp_set_row_bnds(lp->glp, 1, GLP_FX, lp->units, lp->units);
    for (int i = 0; i < p->n; i++) {
        const int bounds = m + COLUMN_BOUNDS + 2 * i;
        glp_set_row_bnds(lp->glp, 2 + i, GLP_FX, 0, 0);
        glp_set_col_bnds(lp->glp, bounds, GLP_LO, 0, 0);
        glp_set_col_bnds(lp->glp, bounds + 1, GLP_LO, 0, 0);
        glp_set_obj_coef(lp->glp, bounds, p->lower[i]);
        glp_set_obj_coef(lp->glp, bounds + 1, -p->upper[i]);
    }
    for (int s = 0; s < m; s++)
        glp_set_col_bnds(lp->glp, s + 1, GLP_DB, 0, 1);
    glp_set_col_bnds(lp->glp, m + COLUMN_SUM, GLP_FR, 0, 0);
    glp_set_obj_coef(lp->glp, m + COLUMN_SUM, 1);
    glp_set_col_bnds(lp->glp, m + COLUMN_TARGET, GLP_FX, 0, 0);
}

/* The arrays belong to the caller, who frees them also after a jump. */
static int load(struct ctx *ctx, struct risk_lp *lp, int *rows, int *columns,
                double *values)
{
    const struct risk_lp_problem *p = lp->problem;
    if (setjmp(lp->broken) != 0)
        return fail_broken(ctx, lp);
    glp_term_out(GLP_OFF);
    glp_error_hook(give_up, lp);
    lp->glp = glp_create_prob();
    glp_set_obj_dir(lp->glp, GLP_MAX);
    glp_add_rows(lp->glp, 1 + p->n);
    glp_add_cols(lp->glp, (int)p->scenarios + 2 + 2 * p->n);
    glp_load_matrix(lp->glp, fill_matrix(p, rows, columns, values), rows,
                    columns, values);
    fill_bounds(lp, p);
    glp_error_hook(NULL, NULL);
    return 0;
}

int risk_lp_make(struct ctx *ctx, const struct risk_lp_problem *p,
                 struct risk_lp **out)
{
    const size_t n = (size_t)p->n,
                 entries = (n + 1) * (size_t)p->scenarios + 4 * n + 1;
    int *rows = calloc(entries, sizeof *rows),
        *columns = calloc(entries, sizeof *columns), status;
    double *values = calloc(entries, sizeof *values);
    struct risk_lp *lp = *out = calloc(1, sizeof *lp);
    if (lp != NULL)
        lp->lower = calloc(2 * n + 1, sizeof *lp->lower);
    if (rows == NULL || columns == NULL || values == NULL || lp == NULL ||
        lp->lower == NULL) {
        status = FAIL(ctx, STATUS_MEMORY, "no memory for a linear programme");
    } else {
        lp->n = p->n;
        lp->scenarios = p->scenarios;
        lp->units = (1 - p->level) * (double)p->scenarios;
        lp->problem = p;
        lp->upper = lp->lower + n;
        for (size_t i = 0; i < n; i++) {
            lp->lower[i] = p->lower[i];
            lp->upper[i] = p->upper[i];
        }
        status = load(ctx, lp, rows, columns, values);
        lp->problem = NULL;
    }
    free(rows);
    free(columns);
    free(values);
    return status;
}

void risk_lp_free(struct risk_lp *lp)
{
    if (lp == NULL)
        return;
    if (lp->glp != NULL) {
        glp_delete_prob(lp->glp);
        glp_free_env();
    }
    free(lp->lower);
    free(lp);
}

/* ---- the solution ---- */

/* One run of the simplex method; whether it found the optimum. */
static int optimal(struct risk_lp *lp, int method)
{
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.meth = method;
    how.tol_bnd = how.tol_dj = 1e-9;
    return glp_simplex(lp->glp, &how) == 0 &&
           glp_get_status(lp->glp) == GLP_OPT;
}

static int run(struct ctx *ctx, struct risk_lp *lp, double target)
{
    const int column = (int)lp->scenarios + COLUMN_TARGET;
    if (setjmp(lp->broken) != 0)
        return fail_broken(ctx, lp);
    glp_error_hook(give_up, lp);
    if (isnan(target)) {
        glp_set_col_bnds(lp->glp, column, GLP_FX, 0, 0);
    } else {
        glp_set_col_bnds(lp->glp, column, GLP_LO, 0, 0);
        glp_set_obj_coef(lp->glp, column, target);
    }
    int found = optimal(lp, GLP_PRIMAL);
    if (!found) { /* from the start, the other way */
        glp_std_basis(lp->glp);
        found = optimal(lp, GLP_DUALP);
    }
    glp_error_hook(NULL, NULL);
    if (!found)
        return FAIL(ctx, STATUS_PHYSICS,
                    "GLPK found no weights for a mean return of %g (its status "
                    "is %d)",
                    target, glp_get_status(lp->glp));
    return 0;
}

int risk_lp_solve(struct ctx *ctx, struct risk_lp *lp, double target,
                  double *weights, double *cvar)
{
    TRY(run(ctx, lp, target));
    for (int i = 0; i < lp->n; i++)
        weights[i] = fmin(fmax(glp_get_row_dual(lp->glp, 2 + i), lp->lower[i]),
                          lp->upper[i]);
    *cvar = glp_get_obj_val(lp->glp) / lp->units;
    return 0;
}

#else

const char *risk_lp_version(void)
{
    return NULL;
}

int risk_lp_make(struct ctx *ctx, const struct risk_lp_problem *p,
                 struct risk_lp **out)
{
    *out = NULL;
    return FAIL(ctx, STATUS_UNSUPPORTED,
                "this program was built without GLPK: no weights of %d assets",
                p->n);
}

void risk_lp_free(struct risk_lp *lp)
{
    (void)lp;
}

int risk_lp_solve(struct ctx *ctx, struct risk_lp *lp, double target,
                  double *weights, double *cvar)
{
    (void)lp;
    (void)weights;
    (void)cvar;
    return FAIL(ctx, STATUS_UNSUPPORTED,
                "this program was built without GLPK: no weights for a return "
                "of %g",
                target);
}

#endif
