# tests/driver: programs in check_PROGRAMS, tests in TESTS or LONG_TESTS.
check_PROGRAMS += tests/driver/comm_ranks tests/driver/toy \
	tests/driver/t_driver tests/driver/t_meters
tests_driver_comm_ranks_SOURCES = tests/driver/comm_ranks.c
tests_driver_comm_ranks_LDADD = $(TEST_LIBS)
if WITH_MPI
# The same where every message of more than seven bytes goes in pieces, and all
# ranks are too many for messages from each to each.
check_PROGRAMS += tests/driver/comm_pieces
tests_driver_comm_pieces_SOURCES = tests/driver/comm_ranks.c \
	src/base/comm_mpi.c src/base/comm_mpi_agree.c src/base/comm_mpi_exchange.c
tests_driver_comm_pieces_CPPFLAGS = $(AM_CPPFLAGS) '-DCOMM_PIECE=((size_t)7)' \
	-DCOMM_FEW=1
tests_driver_comm_pieces_LDADD = $(TEST_LIBS)
endif
# The ordinary program with a solver that fails on demand instead of ours.
tests_driver_toy_SOURCES = src/driver/main.c tests/driver/toy_solver.c
tests_driver_toy_LDADD = $(WARPDECK_LIBS)
tests_driver_t_driver_SOURCES = tests/driver/t_driver.c
tests_driver_t_driver_LDADD = $(TEST_LIBS)
tests_driver_t_meters_SOURCES = tests/driver/t_meters.c
tests_driver_t_meters_LDADD = $(TEST_LIBS)

DRIVER_TESTS = \
	tests/driver/batch.sh \
	tests/driver/checkpoint.sh \
	tests/driver/comm.sh \
	tests/driver/command_line.sh \
	tests/driver/failing.sh \
	tests/driver/results.sh \
	tests/driver/stop.sh
TESTS += tests/driver/t_driver tests/driver/t_meters $(DRIVER_TESTS)
# Runs of the real program, that meet each other.
TESTS += tests/driver/lock.py tests/driver/replicas.py \
	tests/driver/exchange.py
EXTRA_DIST += tests/driver/exchange.py tests/driver/replicated.py
# What a run would need, and a NaN in the middle of one.
TESTS += tests/driver/check.py tests/driver/planted.py
EXTRA_DIST += tests/driver/check.py tests/driver/planted.py
# Recipes against what they are about.
TESTS += tests/driver/packaging.py
EXTRA_DIST += tests/driver/packaging.py
# kills.py: what the long tests of each solver's resumption share.
EXTRA_DIST += tests/driver/lock.py tests/driver/replicas.py tests/driver/kills.py
EXTRA_DIST += $(DRIVER_TESTS) tests/driver/toy.sh
# Full disks; a kill at each write.
TESTS += tests/driver/full_disk.py tests/driver/few_writes.py
LONG_TESTS += tests/driver/full_disk_long.py tests/driver/each_write.py \
	tests/driver/other_ranks.py
EXTRA_DIST += tests/driver/full_disk.py tests/driver/few_writes.py \
	tests/driver/kill_at.c
# What output costs.
LONG_TESTS += tests/driver/bench_io.py
# A real Slurm, where there is one.
LONG_TESTS += tests/driver/slurm.sh
