# solvers/risk
libwarpdeck_a_SOURCES += \
	solvers/risk/risk.c \
	solvers/risk/risk.h \
	solvers/risk/risk_basis.c \
	solvers/risk/risk_bench.c \
	solvers/risk/risk_csv.c \
	solvers/risk/risk_csv.h \
	solvers/risk/risk_exercise.c \
	solvers/risk/risk_greeks.c \
	solvers/risk/risk_horizon.c \
	solvers/risk/risk_ids.c \
	solvers/risk/risk_known.c \
	solvers/risk/risk_losses.c \
	solvers/risk/risk_market.c \
	solvers/risk/risk_nested.c \
	solvers/risk/risk_params.c \
	solvers/risk/risk_plan.c \
	solvers/risk/risk_portfolio.c \
	solvers/risk/risk_price.c \
	solvers/risk/risk_regress.c \
	solvers/risk/risk_results.c \
	solvers/risk/risk_reval.h \
	solvers/risk/risk_revalue.c \
	solvers/risk/risk_table.c \
	solvers/risk/risk_value.c \
	solvers/risk/risk_var.c \
	solvers/risk/risk_var.h
