# kernels/md: one set of sources, compiled once per precision.
noinst_LIBRARIES += libmd_double.a libmd_mixed.a libmd_single.a
MD_LOOP_SOURCES = \
	kernels/simd.h \
	kernels/simd_avx2.h \
	kernels/simd_pack.h \
	kernels/simd_pack_avx2.h \
	kernels/md/md_kernels.h \
	kernels/md/md_types.h \
	kernels/md/id_table.h \
	kernels/md/md_terms.h \
	kernels/md/md_mesh.h \
	kernels/md/md_outer.h \
	kernels/md/outer_cpu.c \
	kernels/md/bonded.h \
	kernels/md/cmap.h \
	kernels/md/bath_cpu.c \
	kernels/md/box_cpu.c \
	kernels/md/tensor.h \
	kernels/md/bonded_cpu.c \
	kernels/md/bonded_cpu.h \
	kernels/md/bonded_lanes_cpu.c \
	kernels/md/bonded_wide_cpu.c \
	kernels/md/histogram_cpu.c \
	kernels/md/dpd_cpu.c \
	kernels/md/dpd_cpu.h \
	kernels/md/eam.h \
	kernels/md/eam_cpu.c \
	kernels/md/eam_cpu.h \
	kernels/md/eam_density_cpu.c \
	kernels/md/eam_force_cpu.c \
	kernels/md/chain_cpu.c \
	kernels/md/chain_cpu.h \
	kernels/md/charged_cpu.c \
	kernels/md/charged_cpu.h \
	kernels/md/charged_rows.h \
	kernels/md/charges_cpu.c \
	kernels/md/coulomb_table.h \
	kernels/md/influence.h \
	kernels/md/cell.h \
	kernels/md/pairs.h \
	kernels/md/pair_forms.h \
	kernels/md/pair_table.h \
	kernels/md/table_cpu.c \
	kernels/md/table_cpu.h \
	kernels/md/segments.h \
	kernels/md/smooth.h \
	kernels/md/bspline.h \
	kernels/md/mesh_cpu.c \
	kernels/md/mix_cpu.c \
	kernels/md/mesh_cpu.h \
	kernels/md/waves_cpu.c \
	kernels/md/rigid.h \
	kernels/md/rigid_lanes.h \
	kernels/md/rigid_sets.h \
	kernels/md/rigid_cpu.c \
	kernels/md/special_pairs.h \
	kernels/md/term_errors.h \
	kernels/md/terms_cpu.c \
	kernels/md/terms_cpu.h \
	kernels/md/precision.h \
	kernels/md/store_cpu.h \
	kernels/md/wrap.h \
	kernels/md/lj.h \
	kernels/md/lj_rows.h \
	kernels/md/halo_cpu.c \
	kernels/md/list_cpu.c \
	kernels/md/lj_cpu.c \
	kernels/md/virial_cpu.c \
	kernels/md/kick_cpu.h \
	kernels/md/look_cpu.c \
	kernels/md/md_cpu.c \
	kernels/md/motion_cpu.c \
	kernels/md/place_cpu.c \
	kernels/md/search_cpu.c \
	kernels/md/slots_cpu.c \
	kernels/md/store_cpu.c

libmd_double_a_SOURCES = $(MD_LOOP_SOURCES)
libmd_double_a_CPPFLAGS = $(AM_CPPFLAGS) -DMD_PRECISION=1
libmd_mixed_a_SOURCES = $(MD_LOOP_SOURCES)
libmd_mixed_a_CPPFLAGS = $(AM_CPPFLAGS) -DMD_PRECISION=2
libmd_single_a_SOURCES = $(MD_LOOP_SOURCES)
libmd_single_a_CPPFLAGS = $(AM_CPPFLAGS) -DMD_PRECISION=3

MD_CUDA_SOURCES += \
	kernels/md/bath_cuda.cu \
	kernels/md/bonded_cuda.cu \
	kernels/md/box_cuda.cu \
	kernels/md/charged_cuda.cu \
	kernels/md/charged_fixed_cuda.cu \
	kernels/md/clock_cuda.cu \
	kernels/md/copies_cuda.cu \
	kernels/md/dpd_cuda.cu \
	kernels/md/eam_cuda.cu \
	kernels/md/eam_tables_cuda.cu \
	kernels/md/fixed_cuda.cu \
	kernels/md/forms_cuda.cu \
	kernels/md/halo_cuda.cu \
	kernels/md/histogram_cuda.cu \
	kernels/md/list_cuda.cu \
	kernels/md/lj_cuda.cu \
	kernels/md/look_cuda.cu \
	kernels/md/md_cuda.cu \
	kernels/md/mesh_cuda.cu \
	kernels/md/mesh_whole_cuda.cu \
	kernels/md/moments_cuda.cu \
	kernels/md/motion_cuda.cu \
	kernels/md/outer_cuda.cu \
	kernels/md/rigid_cuda.cu \
	kernels/md/rigid_sums_cuda.cu \
	kernels/md/slots_cuda.cu \
	kernels/md/sort_cuda.cu \
	kernels/md/steps_cuda.cu \
	kernels/md/store_cuda.cu \
	kernels/md/team_calls_cuda.cu \
	kernels/md/team_cuda.cu \
	kernels/md/team_rebuild_cuda.cu \
	kernels/md/term_places_cuda.cu \
	kernels/md/terms_cuda.cu \
	kernels/md/virial_cuda.cu \
	kernels/md/waves_cuda.cu
EXTRA_DIST += $(MD_CUDA_SOURCES) kernels/md/store_cuda.h \
	kernels/md/bonded_cuda.h kernels/md/box_cuda.h kernels/md/calls_cuda.h \
	kernels/md/charged_cuda.h kernels/md/charged_pair_cuda.h \
	kernels/md/clock_cuda.h kernels/md/dynamics_cuda.h \
	kernels/md/eam_cuda.h kernels/md/fixed_cuda.h \
	kernels/md/form_pair_cuda.h kernels/md/forms_cuda.h \
	kernels/md/mesh_cuda.h kernels/md/near_cuda.h kernels/md/outer_cuda.h \
	kernels/md/rigid_cuda.h kernels/md/team_cuda.h \
	kernels/md/team_parts_cuda.h kernels/md/terms_cuda.h \
	kernels/md/threads_cuda.h
