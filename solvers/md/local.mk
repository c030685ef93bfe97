# solvers/md
libwarpdeck_a_SOURCES +=
