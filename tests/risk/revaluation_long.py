# timeout: 900
"""Value at risk by regression and by a simulation from each state."""
import reval_cases as rc
import tap

rc.nested(rc.NESTED)
tap.done()
