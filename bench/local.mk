# bench: measurements, run by hand.
EXTRA_DIST += bench/NOTES.md bench/RESULTS.md bench/gpu.sh bench/peers.sh \
	bench/peers_fluid.sh bench/common.sh bench/lammps_files.sh \
	scripts/gpu-bundle

# Everything that needs a card: tests, the sanitizers of CUDA, figures.
ON_CARD = tests/cuda/right_card tests/cuda/fluid_card tests/cuda/modes_card \
	tests/cuda/molecules_card \
	tests/cuda/risk_card tests/md/analysis tests/md/forces tests/md/motion \
	tests/md/thermostats
if WITH_CUDA
check-gpu: warpdeck $(ON_CARD)
	rm -rf card-programs && $(MKDIR_P) card-programs
	cp warpdeck $(ON_CARD) card-programs
	MPIRUN='$(MPIRUN)' bash $(srcdir)/bench/gpu.sh \
		--programs "$$PWD/card-programs" $(GPU_FLAGS)
else
check-gpu:
	@echo "check-gpu: built without CUDA; see configure --with-cuda" >&2; false
endif
.PHONY: check-gpu
