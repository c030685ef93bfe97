# solvers/md
libwarpdeck_a_SOURCES += \
	solvers/md/md.c \
	solvers/md/md.h \
	solvers/md/md_analysis.c \
	solvers/md/md_bench.c \
	solvers/md/md_bonds.c \
	solvers/md/md_coulomb.c \
	solvers/md/md_data.c \
	solvers/md/md_data.h \
	solvers/md/md_data_text.c \
	solvers/md/md_eam.c \
	solvers/md/md_eam.h \
	solvers/md/md_eam_text.c \
	solvers/md/md_ensemble.c \
	solvers/md/md_initial.c \
	solvers/md/md_observe.c \
	solvers/md/md_pair.c \
	solvers/md/md_params.c \
	solvers/md/md_read_xyz.c \
	solvers/md/md_results.c \
	solvers/md/md_state.c \
	solvers/md/md_state_terms.c \
	solvers/md/md_table.c \
	solvers/md/md_totals.c \
	solvers/md/md_velocity.c \
	solvers/md/md_xyz_text.c \
	solvers/md/md_xyz_text.h
