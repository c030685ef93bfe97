# postproc
