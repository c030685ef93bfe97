# inputs: decks, installed to $(pkgdatadir)/inputs.
nobase_dist_pkgdata_DATA += \
	inputs/fluid/cavity.toml \
	inputs/fluid/cavity_3d.toml \
	inputs/fluid/channel.toml \
	inputs/fluid/decay.toml \
	inputs/fluid/heated_cavity.toml \
	inputs/fluid/rayleigh_benard.toml \
	inputs/fluid/shear_layer.toml \
	inputs/fluid/taylor_green.toml \
	inputs/fluid/taylor_green_2d.toml \
	inputs/md/argon.toml \
	inputs/md/chains.data \
	inputs/md/chains.toml \
	inputs/md/lj_binary.toml \
	inputs/md/lj_cluster.toml \
	inputs/md/lj_cluster.xyz \
	inputs/md/lj_gas.toml \
	inputs/md/lj_liquid.toml \
	inputs/md/lj_melt.toml \
	inputs/md/make_chains.py \
	inputs/md/make_cluster.py \
	inputs/risk/asian.toml \
	inputs/risk/barriers.csv \
	inputs/risk/barriers.toml \
	inputs/risk/baskets.csv \
	inputs/risk/baskets.toml \
	inputs/risk/book.csv \
	inputs/risk/correlation.csv \
	inputs/risk/exposure.csv \
	inputs/risk/exposure.toml \
	inputs/risk/frontier.toml \
	inputs/risk/portfolio.toml \
	inputs/slurm/array.sh \
	inputs/slurm/plain.sh \
	inputs/slurm/requeue.sh
