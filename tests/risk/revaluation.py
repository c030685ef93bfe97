"""Value at risk of positions without a closed form at the horizon."""
import reval_cases as rc
import tap

rc.closed()
rc.heston()
rc.path_dependent()
rc.remembered()
tap.done()
