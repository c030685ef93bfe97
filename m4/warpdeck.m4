# Macros of Warpdeck's configure.

# WD_FLAG(LANG, VARIABLE, FLAG): add FLAG to VARIABLE when the LANG compiler
# takes it without a complaint.
AC_DEFUN([WD_FLAG], [
  AC_LANG_PUSH([$1])
  AS_VAR_PUSHDEF([wd_cache], [wd_cv_flag_[]_AC_LANG_ABBREV[]_$3])
  AS_VAR_PUSHDEF([wd_flags], [_AC_LANG_PREFIX[]FLAGS])
  AC_CACHE_CHECK([whether the _AC_LANG compiler takes $3], [wd_cache], [
    wd_saved="$wd_flags"
    wd_flags="$wd_flags -Werror $3"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
      [AS_VAR_SET([wd_cache], [yes])], [AS_VAR_SET([wd_cache], [no])])
    wd_flags="$wd_saved"
  ])
  AS_VAR_IF([wd_cache], [yes], [$2="$$2 $3"])
  AS_VAR_POPDEF([wd_flags])
  AS_VAR_POPDEF([wd_cache])
  AC_LANG_POP([$1])
])

# WD_TRY_MPI(COMPILE FLAGS, LINK FLAGS, ACTION IF OK): does an MPI program link?
AC_DEFUN([WD_TRY_MPI], [
  wd_saved_cppflags="$CPPFLAGS"
  wd_saved_libs="$LIBS"
  CPPFLAGS="$CPPFLAGS $1"
  LIBS="$2 $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
    [[MPI_Init(0, 0); MPI_Finalize();]])], [$3])
  CPPFLAGS="$wd_saved_cppflags"
  LIBS="$wd_saved_libs"
])

# WD_MPI: sets MPI_CFLAGS and MPI_LIBS, and wd_mpi to where they came from, or
# to no. The compiler itself may know MPI (Cray), else its wrapper is asked,
# else pkg-config.
AC_DEFUN([WD_MPI], [
  AC_ARG_VAR([MPICC], [MPI compiler wrapper that is asked for its flags])
  AC_PATH_PROGS([MPICC], [mpicc mpiicc])
  AC_MSG_CHECKING([for MPI])
  wd_mpi=no
  WD_TRY_MPI([$MPI_CFLAGS], [$MPI_LIBS], [wd_mpi="given"])
  if test "$wd_mpi" = no && test -n "$MPICC"; then
    if wd_c=`"$MPICC" --showme:compile 2>/dev/null` &&
       wd_l=`"$MPICC" --showme:link 2>/dev/null`; then :
    else
      wd_c=`"$MPICC" -show 2>/dev/null | sed 's/^[[^ ]]* *//'`
      wd_l="$wd_c"
    fi
    WD_TRY_MPI([$wd_c], [$wd_l],
      [wd_mpi="$MPICC"; MPI_CFLAGS="$wd_c"; MPI_LIBS="$wd_l"])
  fi
  for wd_p in mpi-c ompi-c mpich; do
    if test "$wd_mpi" = no && $PKG_CONFIG --exists $wd_p 2>/dev/null; then
      wd_c=`$PKG_CONFIG --cflags $wd_p`
      wd_l=`$PKG_CONFIG --libs $wd_p`
      WD_TRY_MPI([$wd_c], [$wd_l],
        [wd_mpi="pkg-config $wd_p"; MPI_CFLAGS="$wd_c"; MPI_LIBS="$wd_l"])
    fi
  done
  AC_MSG_RESULT([$wd_mpi])
])

# WD_TRY_HDF5(COMPILE FLAGS, LINK FLAGS, parallel|serial, ACTION IF OK)
AC_DEFUN([WD_TRY_HDF5], [
  wd_saved_cppflags="$CPPFLAGS"
  wd_saved_libs="$LIBS"
  CPPFLAGS="$CPPFLAGS $MPI_CFLAGS $1"
  LIBS="$2 $MPI_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <hdf5.h>
    #if defined(WD_WANT_PARALLEL) && !defined(H5_HAVE_PARALLEL)
    #error this HDF5 knows no MPI
    #endif
    #if !H5_VERSION_GE(1, 10, 0)
    #error this HDF5 is too old
    #endif]], [[H5open();]])], [$3])
  CPPFLAGS="$wd_saved_cppflags"
  LIBS="$wd_saved_libs"
])

# WD_HDF5(parallel|serial): sets HDF5_CFLAGS, HDF5_LIBS and wd_hdf5. The user's
# HDF5_CFLAGS and HDF5_LIBS come first, then pkg-config, then h5pcc or h5cc.
AC_DEFUN([WD_HDF5], [
  AC_ARG_VAR([HDF5_CFLAGS], [compile flags of HDF5])
  AC_ARG_VAR([HDF5_LIBS], [link flags of HDF5])
  AC_MSG_CHECKING([for $1 HDF5])
  wd_hdf5=no
  AS_IF([test "$1" = parallel],
    [wd_names="hdf5-mpi hdf5-openmpi hdf5-mpich hdf5"
     wd_wrapper=h5pcc; wd_def=-DWD_WANT_PARALLEL],
    [wd_names="hdf5-serial hdf5"; wd_wrapper=h5cc; wd_def=])
  if test -n "$HDF5_LIBS"; then
    WD_TRY_HDF5([$wd_def $HDF5_CFLAGS], [$HDF5_LIBS], [wd_hdf5="given"])
  else
    for wd_p in $wd_names; do
      if test "$wd_hdf5" = no && $PKG_CONFIG --exists $wd_p 2>/dev/null; then
        wd_c=`$PKG_CONFIG --cflags $wd_p`
        wd_l=`$PKG_CONFIG --libs $wd_p`
        WD_TRY_HDF5([$wd_def $wd_c], [$wd_l],
          [wd_hdf5="pkg-config $wd_p"; HDF5_CFLAGS="$wd_c"; HDF5_LIBS="$wd_l"])
      fi
    done
    if test "$wd_hdf5" = no; then
      wd_c=`$wd_wrapper -show 2>/dev/null | sed 's/^[[^ ]]* *//'`
      test -n "$wd_c" || wd_c=-lhdf5
      WD_TRY_HDF5([$wd_def $wd_c], [$wd_c],
        [wd_hdf5="$wd_wrapper"; HDF5_CFLAGS="$wd_c"; HDF5_LIBS="$wd_c"])
    fi
  fi
  AC_MSG_RESULT([$wd_hdf5])
])

# WD_PYTHON: the first Python 3 that has h5py and numpy, else any Python 3.
# Sets PYTHON and wd_python_h5py.
AC_DEFUN([WD_PYTHON], [
  AC_ARG_VAR([PYTHON], [Python 3 with h5py and numpy, for postproc and tests])
  AC_MSG_CHECKING([for Python 3 with h5py and numpy])
  wd_python_h5py=no
  wd_any_python=
  for wd_p in "$PYTHON" /usr/bin/python3 python3; do
    test -n "$wd_p" || continue
    wd_path=`command -v "$wd_p" 2>/dev/null` || continue
    "$wd_path" -c 'import sys; sys.exit(sys.version_info < (3, 9))' \
      2>/dev/null || continue
    test -n "$wd_any_python" || wd_any_python="$wd_path"
    if "$wd_path" -c 'import h5py, numpy' 2>/dev/null; then
      PYTHON="$wd_path"
      wd_python_h5py=yes
      break
    fi
  done
  test "$wd_python_h5py" = yes || PYTHON="$wd_any_python"
  AS_IF([test "$wd_python_h5py" = yes], [AC_MSG_RESULT([$PYTHON])],
    [AC_MSG_RESULT([no])])
])
