# tests/physics: what the program computes, seen through its files.
PHYSICS_TESTS = \
	tests/physics/ahead.py \
	tests/physics/analysis.py \
	tests/physics/balance.py \
	tests/physics/bond_images.py \
	tests/physics/bonds.py \
	tests/physics/brownian.py \
	tests/physics/dpd.py \
	tests/physics/rigid.py \
	tests/physics/rigid_npt.py \
	tests/physics/card.py \
	tests/physics/chains.py \
	tests/physics/charges.py \
	tests/physics/cmap.py \
	tests/physics/decks.py \
	tests/physics/deform.py \
	tests/physics/term_reach.py \
	tests/physics/strain_beside.py \
	tests/physics/strain_charges.py \
	tests/physics/drift.py \
	tests/physics/ewald.py \
	tests/physics/exchange.py \
	tests/physics/faults.py \
	tests/physics/fluid_cavity.py \
	tests/physics/fluid_convection.py \
	tests/physics/fluid_exact.py \
	tests/physics/fluid_tgv.py \
	tests/physics/gromacs.py \
	tests/physics/groups.py \
	tests/physics/guards.py \
	tests/physics/h5md_start.py \
	tests/physics/input_numbers.py \
	tests/physics/lammps_bench.py \
	tests/physics/measured.py \
	tests/physics/measured_bonds.py \
	tests/physics/measured_laws.py \
	tests/physics/melt.py \
	tests/physics/metals.py \
	tests/physics/minimize.py \
	tests/physics/nist.py \
	tests/physics/npt.py \
	tests/physics/open_box.py \
	tests/physics/pair_sections.py \
	tests/physics/pairs.py \
	tests/physics/peer.py \
	tests/physics/precision.py \
	tests/physics/ranks.py \
	tests/physics/regions.py \
	tests/physics/replicate.py \
	tests/physics/resume.py \
	tests/physics/slits.py \
	tests/physics/thermostats.py \
	tests/physics/tilted.py \
	tests/physics/twin.py \
	tests/physics/units.py \
	tests/physics/walls.py \
	tests/physics/water_tilted.py \
	tests/physics/xyz_columns.py
TESTS += $(PHYSICS_TESTS)

LONG_TESTS += \
	tests/physics/balance_long.py \
	tests/physics/brownian_long.py \
	tests/physics/dpd_long.py \
	tests/physics/exchange_long.py \
	tests/physics/fluid_cavity_long.py \
	tests/physics/fluid_channel.py \
	tests/physics/fluid_convection_long.py \
	tests/physics/fluid_tgv_long.py \
	tests/physics/gromacs_long.py \
	tests/physics/melt_averages.py \
	tests/physics/metals_long.py \
	tests/physics/nist_liquid.py \
	tests/physics/npt_long.py \
	tests/physics/resume_long.py \
	tests/physics/rigid_long.py \
	tests/physics/shear_long.py \
	tests/physics/thermostats_long.py \
	tests/physics/viscosity_long.py

EXTRA_DIST += $(PHYSICS_TESTS) \
	tests/physics/flowrun.py \
	tests/physics/ensemble.py \
	tests/physics/gammatest.py \
	tests/physics/gromacs_cases.py \
	tests/physics/lammps_files.py \
	tests/physics/lammps_step0.csv \
	tests/physics/mdrun.py \
	tests/physics/pair_forms.py \
	tests/physics/peer_values.py \
	tests/physics/rigid_cases.py \
	tests/physics/peer/README.md \
	tests/physics/peer/argon.in \
	tests/physics/peer/average.py \
	tests/physics/peer/kob_andersen.in \
	tests/physics/peer/liquid.in \
	tests/physics/peer/melt.in \
	tests/physics/peer/values.csv
