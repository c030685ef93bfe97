# solvers
libwarpdeck_a_SOURCES += \
	solvers/solver.h \
	solvers/solvers.c \
	solvers/solvers.def
