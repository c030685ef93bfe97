# docs
dist_doc_DATA += README.md CHANGES docs/coming.md docs/fluid.md docs/cluster.md \
	docs/md.md docs/md-analyses.md docs/md-conditions.md docs/open-in.md docs/risk.md
EXTRA_DIST += docs/images/lj_melt.png docs/examples/cavity_profiles.py \
	docs/examples/melt_structure.py docs/examples/var_convergence.py
