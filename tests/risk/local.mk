# tests/risk: programs in check_PROGRAMS, tests in TESTS or LONG_TESTS.
check_PROGRAMS += tests/risk/t_exact tests/risk/t_paths \
	tests/risk/t_sobol
tests_risk_t_exact_SOURCES = tests/risk/t_exact.c
tests_risk_t_exact_CFLAGS = $(AM_CFLAGS) -ffp-contract=off -fno-math-errno
tests_risk_t_exact_LDADD = $(TEST_LIBS)
tests_risk_t_paths_SOURCES = tests/risk/t_paths.c
tests_risk_t_paths_LDADD = $(TEST_LIBS)
tests_risk_t_sobol_SOURCES = tests/risk/t_sobol.c
tests_risk_t_sobol_CFLAGS = $(AM_CFLAGS) -ffp-contract=off -fno-math-errno
tests_risk_t_sobol_LDADD = $(TEST_LIBS)
TESTS += tests/risk/t_exact tests/risk/t_paths tests/risk/t_sobol

check_PROGRAMS += tests/risk/t_exercise
tests_risk_t_exercise_SOURCES = tests/risk/t_exercise.c
tests_risk_t_exercise_CFLAGS = $(AM_CFLAGS) -ffp-contract=off -fno-math-errno
tests_risk_t_exercise_LDADD = $(TEST_LIBS)
TESTS += tests/risk/t_exercise

# Whole runs: prices against references.csv, bits, bad input.
TESTS += tests/risk/greeks.py tests/risk/var.py tests/risk/references.py tests/risk/bits.py tests/risk/bad.py
LONG_TESTS += tests/risk/heston_bermudan_long.py tests/risk/coverage_long.py tests/risk/references_long.py
EXTRA_DIST += tests/risk/heston_bermudan_long.py tests/risk/coverage_long.py tests/risk/greeks.py tests/risk/var.py tests/risk/references.py tests/risk/bits.py tests/risk/bad.py \
	tests/risk/risk_cases.py tests/risk/references.csv

TESTS += tests/risk/sobol.py
EXTRA_DIST += tests/risk/sobol.py

TESTS += tests/risk/revaluation.py tests/risk/ls2001.py
LONG_TESTS += tests/risk/revaluation_long.py
EXTRA_DIST += tests/risk/revaluation.py tests/risk/ls2001.py \
	tests/risk/revaluation_long.py tests/risk/reval_cases.py

# Killed and gone on with, many times.
LONG_TESTS += tests/risk/resume_risk_long.py tests/risk/ranks_long.py tests/risk/slope_long.py
EXTRA_DIST += tests/risk/ranks_long.py

TESTS += tests/risk/frontier.py tests/risk/scenarios.py tests/risk/dates.py
EXTRA_DIST += tests/risk/frontier.py tests/risk/scenarios.py tests/risk/dates.py

TESTS += tests/risk/exposure.py
EXTRA_DIST += tests/risk/exposure.py
