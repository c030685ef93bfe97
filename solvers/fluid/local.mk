# solvers/fluid
libwarpdeck_a_SOURCES += \
	solvers/fluid/fluid.c \
	solvers/fluid/fluid.h \
	solvers/fluid/fluid_bench.c \
	solvers/fluid/fluid_boundary.c \
	solvers/fluid/fluid_fastest.c \
	solvers/fluid/fluid_frame.c \
	solvers/fluid/fluid_grid.c \
	solvers/fluid/fluid_initial.c \
	solvers/fluid/fluid_observe.c \
	solvers/fluid/fluid_params.c \
	solvers/fluid/fluid_random.c \
	solvers/fluid/fluid_spectra.c \
	solvers/fluid/fluid_state.c \
	solvers/fluid/fluid_statistics.c \
	solvers/fluid/fluid_step.c \
	solvers/fluid/fluid_store.c \
	solvers/fluid/fluid_table.c \
	solvers/fluid/fluid_time.c \
	solvers/fluid/fluid_totals.c
