# tests/cuda: the simulator notices faults, and the compiler's report is good.
CUDA_TESTS = \
	tests/cuda/abreast.py \
	tests/cuda/ahead.py \
	tests/cuda/replicas.py \
	tests/cuda/resume.py \
	tests/cuda/risk_runs.py \
	tests/cuda/t_beside.sh \
	tests/cuda/t_faults.sh \
	tests/cuda/t_fluid.sh \
	tests/cuda/t_md.sh \
	tests/cuda/t_md_motion.sh \
	tests/cuda/t_modes.sh \
	tests/cuda/t_molecules.sh \
	tests/cuda/t_program.sh \
	tests/cuda/t_registers.sh \
	tests/cuda/t_risk.sh \
	tests/cuda/t_simulator.sh \
	tests/cuda/t_transforms.sh
TESTS += $(CUDA_TESTS)
EXTRA_DIST += tests/cuda/influence.cu tests/cuda/transforms.cu
EXTRA_DIST += $(CUDA_TESTS) tests/cuda/over_seeds.sh tests/cuda/teams.py \
	tests/cuda/faults.cu tests/cuda/faults.h tests/cuda/faults_host.cu \
	tests/cuda/right.cu tests/cuda/samples.cu tests/cuda/samples.h

MOLECULES_SOURCES = tests/cuda/molecules.c tests/cuda/molecules.h \
	tests/cuda/molecules_case.c tests/cuda/molecules_charged.c \
	tests/cuda/molecules_files.c $(MD_CASE_SOURCES)

if WITH_CUDASIM
check_PROGRAMS += tests/cuda/faults tests/cuda/right
tests_cuda_faults_SOURCES =
tests_cuda_faults_LDADD = tests/cuda/faults.sim.o \
	tests/cuda/faults_host.sim.o tests/cuda/samples.sim.o \
	tests/cudasim/libcudasim.a $(CUDASIM_LIBS)
tests_cuda_faults_LINK = $(CXXLINK)
tests_cuda_right_SOURCES =
tests_cuda_right_LDADD = tests/cuda/right.sim.o tests/cuda/samples.sim.o \
	tests/cudasim/libcudasim.a tests/libtap.a $(CUDASIM_LIBS)
tests_cuda_right_LINK = $(CXXLINK)

# The tests of molecular dynamics on the simulated card.
check_PROGRAMS += tests/cuda/charges tests/cuda/md_analysis \
	tests/cuda/md_forces tests/cuda/md_motion tests/cuda/md_thermostats \
	tests/cuda/modes tests/cuda/beside tests/cuda/molecules
ON_CUDASIM = $(CUDASIM_LINK) $(TEST_LIBS) $(CUDASIM_LIBS)
ON_CUDASIM_NEEDS = $(CUDASIM_LINK) tests/libtap.a $(WARPDECK_ARCHIVES)
tests_cuda_charges_SOURCES = tests/cuda/charges.c $(MD_CASE_SOURCES)
tests_cuda_charges_LDADD = tests/cuda/influence.double.sim.o $(ON_CUDASIM)
tests_cuda_charges_DEPENDENCIES = tests/cuda/influence.double.sim.o \
	$(ON_CUDASIM_NEEDS)
tests_cuda_md_analysis_SOURCES = tests/md/analysis.c $(MD_CASE_SOURCES)
tests_cuda_md_analysis_LDADD = $(ON_CUDASIM)
tests_cuda_md_analysis_DEPENDENCIES = $(ON_CUDASIM_NEEDS)
tests_cuda_md_forces_SOURCES = tests/md/forces.c $(MD_CASE_SOURCES)
tests_cuda_md_forces_LDADD = $(ON_CUDASIM)
tests_cuda_md_forces_DEPENDENCIES = $(ON_CUDASIM_NEEDS)
tests_cuda_md_motion_SOURCES = tests/md/motion.c $(MD_CASE_SOURCES)
tests_cuda_md_motion_LDADD = $(ON_CUDASIM)
tests_cuda_md_motion_DEPENDENCIES = $(ON_CUDASIM_NEEDS)
tests_cuda_md_thermostats_SOURCES = tests/md/thermostats.c $(MD_CASE_SOURCES)
tests_cuda_md_thermostats_LDADD = $(ON_CUDASIM)
tests_cuda_md_thermostats_DEPENDENCIES = $(ON_CUDASIM_NEEDS)
tests_cuda_beside_SOURCES = tests/cuda/beside.c tests/cuda/beside.h \
	tests/cuda/beside_boxes.c tests/cuda/beside_dynamics.c \
	tests/cuda/beside_outer.c $(MD_CASE_SOURCES)
tests_cuda_beside_LDADD = $(ON_CUDASIM)
tests_cuda_beside_DEPENDENCIES = $(ON_CUDASIM_NEEDS)
tests_cuda_modes_SOURCES = tests/cuda/modes.c $(MD_CASE_SOURCES)
tests_cuda_modes_LDADD = $(ON_CUDASIM)
tests_cuda_modes_DEPENDENCIES = $(ON_CUDASIM_NEEDS)
tests_cuda_molecules_SOURCES = $(MOLECULES_SOURCES)
tests_cuda_molecules_LDADD = $(ON_CUDASIM)
tests_cuda_molecules_DEPENDENCIES = $(ON_CUDASIM_NEEDS)

# The flow on the simulated card beside that on the CPU; and the transforms.
check_PROGRAMS += tests/cuda/fluid tests/cuda/transforms
tests_cuda_transforms_SOURCES =
tests_cuda_transforms_LDADD = tests/cuda/transforms.sim.o \
	tests/cudasim/libcudasim.a tests/libtap.a $(CUDASIM_LIBS)
tests_cuda_transforms_LINK = $(CXXLINK)
tests_cuda_fluid_SOURCES = tests/cuda/fluid.c tests/fluid/world.c \
	tests/fluid/world.h
tests_cuda_fluid_LDADD = $(ON_CUDASIM)
tests_cuda_fluid_DEPENDENCIES = $(ON_CUDASIM_NEEDS)

check_PROGRAMS += tests/cuda/risk
tests_cuda_risk_SOURCES = tests/cuda/risk.c
tests_cuda_risk_LDADD = $(ON_CUDASIM)
tests_cuda_risk_DEPENDENCIES = $(ON_CUDASIM_NEEDS)

# The same of the loops in a changed copy of kernels/: see remove_syncs.py.
CUDASIM_TREE_OBJECTS = $(CUDASIM_OBJECTS:%=$(CUDASIM_TREE)/%)
CUDASIM_TREE_LINK = $(AM_V_CCLD)$(LINK) $(1) $(CUDASIM_TREE_OBJECTS) \
	tests/cudasim/libcudasim.a $(TEST_LIBS) $(CUDASIM_LIBS)
$(CUDASIM_TREE)/forces: $(CUDASIM_TREE_OBJECTS) $(ON_CUDASIM_NEEDS)
	$(call CUDASIM_TREE_LINK,$(tests_cuda_md_forces_OBJECTS))
$(CUDASIM_TREE)/warpdeck: $(CUDASIM_TREE_OBJECTS) $(ON_CUDASIM_NEEDS)
	$(call CUDASIM_TREE_LINK,$(warpdeck_cudasim_OBJECTS))
$(CUDASIM_TREE)/charges: $(CUDASIM_TREE_OBJECTS) $(ON_CUDASIM_NEEDS)
	$(call CUDASIM_TREE_LINK,$(tests_cuda_charges_OBJECTS) \
		tests/cuda/influence.double.sim.o)
$(CUDASIM_TREE)/modes: $(CUDASIM_TREE_OBJECTS) $(ON_CUDASIM_NEEDS)
	$(call CUDASIM_TREE_LINK,$(tests_cuda_modes_OBJECTS))
$(CUDASIM_TREE)/beside: $(CUDASIM_TREE_OBJECTS) $(ON_CUDASIM_NEEDS)
	$(call CUDASIM_TREE_LINK,$(tests_cuda_beside_OBJECTS))
$(CUDASIM_TREE)/molecules: $(CUDASIM_TREE_OBJECTS) $(ON_CUDASIM_NEEDS)
	$(call CUDASIM_TREE_LINK,$(tests_cuda_molecules_OBJECTS))
$(CUDASIM_TREE)/fluid: $(CUDASIM_TREE_OBJECTS) $(ON_CUDASIM_NEEDS)
	$(call CUDASIM_TREE_LINK,$(tests_cuda_fluid_OBJECTS))
$(CUDASIM_TREE)/risk: $(CUDASIM_TREE_OBJECTS) $(ON_CUDASIM_NEEDS)
	$(call CUDASIM_TREE_LINK,$(tests_cuda_risk_OBJECTS))
$(CUDASIM_TREE)/analysis: $(CUDASIM_TREE_OBJECTS) $(ON_CUDASIM_NEEDS)
	$(call CUDASIM_TREE_LINK,$(tests_cuda_md_analysis_OBJECTS))
endif
LONG_TESTS += tests/cuda/all_seeds.sh tests/cuda/protein_long.py \
	tests/cuda/remove_syncs.py tests/cuda/replicas_long.py
EXTRA_DIST += tests/cuda/one_seed.sh

# What nvcc has made: it is all there, needs no memory for its registers, and
# programs start with it where there is no card; with one, the physics.
NVCC_CHECKS = tests/cuda/t_registers.sh tests/driver/command_line.sh \
	`test ! -e /dev/nvidiactl || echo tests/physics/card.py`
check-card: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="$(NVCC_CHECKS)" \
		check_PROGRAMS='$(BUILT_BY_NVCC)' check_LIBRARIES=tests/libtap.a
.PHONY: check-card

# The right programs for a real card: run by make check-gpu.
BUILT_BY_NVCC =
if WITH_CUDA
BUILT_BY_NVCC += tests/cuda/right_card tests/cuda/fluid_card \
	tests/cuda/risk_card tests/cuda/modes_card tests/cuda/molecules_card \
	tests/cuda/charges_card
check_PROGRAMS += $(BUILT_BY_NVCC)
tests_cuda_right_card_SOURCES =
tests_cuda_right_card_LDADD = tests/cuda/right.nv.o tests/cuda/samples.nv.o \
	$(TEST_LIBS)
tests_cuda_right_card_LINK = $(CXXLINK) $(OPENMP_CFLAGS)
tests_cuda_fluid_card_SOURCES = tests/cuda/fluid.c tests/fluid/world.c \
	tests/fluid/world.h
tests_cuda_fluid_card_LDADD = $(TEST_LIBS)
tests_cuda_risk_card_SOURCES = tests/cuda/risk.c
tests_cuda_risk_card_LDADD = $(TEST_LIBS)
tests_cuda_modes_card_SOURCES = tests/cuda/modes.c $(MD_CASE_SOURCES)
tests_cuda_modes_card_LDADD = $(TEST_LIBS)
tests_cuda_molecules_card_SOURCES = $(MOLECULES_SOURCES)
tests_cuda_molecules_card_LDADD = $(TEST_LIBS)
tests_cuda_charges_card_SOURCES = tests/cuda/charges.c $(MD_CASE_SOURCES)
tests_cuda_charges_card_LDADD = tests/cuda/influence.double.nv.o $(TEST_LIBS)

# Tests for a card in one program, which takes the test's name: in it the loops
# stand once, for scripts/gpu-bundle.
CARD_PARTS = analysis charges_card fluid_card forces modes_card molecules_card \
	motion risk_card thermostats
CARD_PART_OBJECTS = $(CARD_PARTS:%=tests/cuda/parts/%.o)
tests/cuda/parts/analysis.o: $(tests_md_analysis_OBJECTS)
tests/cuda/parts/fluid_card.o: $(tests_cuda_fluid_card_OBJECTS)
tests/cuda/parts/forces.o: $(tests_md_forces_OBJECTS)
tests/cuda/parts/charges_card.o: $(tests_cuda_charges_card_OBJECTS)
tests/cuda/parts/modes_card.o: $(tests_cuda_modes_card_OBJECTS)
tests/cuda/parts/molecules_card.o: $(tests_cuda_molecules_card_OBJECTS)
tests/cuda/parts/motion.o: $(tests_md_motion_OBJECTS)
tests/cuda/parts/risk_card.o: $(tests_cuda_risk_card_OBJECTS)
tests/cuda/parts/thermostats.o: $(tests_md_thermostats_OBJECTS)
$(CARD_PART_OBJECTS):
	$(AM_V_GEN)$(MKDIR_P) $(@D) && ld -r -o $@ $^ && \
	objcopy --redefine-sym main=main_$(*F) $@ && \
	objcopy --keep-global-symbol=main_$(*F) $@
tests/cuda/parts/main.c: $(srcdir)/tests/cuda/local.mk
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { echo '#include <string.h>'; \
	for part in $(CARD_PARTS); do \
		echo "int main_$$part(int argc, char **argv);"; done; \
	echo 'int main(int argc, char **argv)'; echo '{'; \
	for part in $(CARD_PARTS); do \
		echo "    if (argc > 1 && strcmp(argv[1], \"$$part\") == 0)"; \
		echo "        return main_$$part(argc - 1, argv + 1);"; done; \
	echo '    return 2;'; echo '}'; } >$@
tests/cuda/parts/main.o: tests/cuda/parts/main.c
	$(AM_V_CC)$(CC) $(AM_CFLAGS) $(CFLAGS) -c -o $@ $<
tests/cuda/parts/tests: tests/cuda/parts/main.o $(CARD_PART_OBJECTS) \
		tests/libtap.a $(WARPDECK_ARCHIVES)
	$(AM_V_CCLD)$(LINK) tests/cuda/parts/main.o $(CARD_PART_OBJECTS) $(TEST_LIBS)
CLEANFILES += tests/cuda/parts/*
endif
