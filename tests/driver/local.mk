# tests/driver: programs in check_PROGRAMS, tests in TESTS or LONG_TESTS.
check_PROGRAMS += tests/driver/comm_ranks tests/driver/toy \
	tests/driver/t_driver
tests_driver_comm_ranks_SOURCES = tests/driver/comm_ranks.c
tests_driver_comm_ranks_LDADD = $(TEST_LIBS)
# The ordinary program with a solver that fails on demand instead of ours.
tests_driver_toy_SOURCES = src/driver/main.c tests/driver/toy_solver.c
tests_driver_toy_LDADD = $(WARPDECK_LIBS)
tests_driver_t_driver_SOURCES = tests/driver/t_driver.c
tests_driver_t_driver_LDADD = $(TEST_LIBS)

DRIVER_TESTS = \
	tests/driver/comm.sh \
	tests/driver/command_line.sh \
	tests/driver/failing.sh \
	tests/driver/results.sh \
	tests/driver/stop.sh
TESTS += tests/driver/t_driver $(DRIVER_TESTS)
EXTRA_DIST += $(DRIVER_TESTS) tests/driver/toy.sh
