# inputs: decks, installed to $(pkgdatadir)/inputs.
nobase_dist_pkgdata_DATA += \
	inputs/md/argon.toml \
	inputs/md/lj_binary.toml \
	inputs/md/lj_cluster.toml \
	inputs/md/lj_cluster.xyz \
	inputs/md/lj_gas.toml \
	inputs/md/lj_liquid.toml \
	inputs/md/lj_melt.toml \
	inputs/md/make_cluster.py
