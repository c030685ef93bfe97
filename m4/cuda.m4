# The CUDA toolkit, and what the simulator of a card (tests/cudasim) needs.

# WD_CUDA: from $with_cuda (no, yes, auto or a folder) sets NVCC, NVCC_ARCH,
# NVCCFLAGS, CUDA_CPPFLAGS and CUDA_LIBS; wd_cuda is the version, or no.
# Appends to $wd_missing where it was asked for and does not work.
AC_DEFUN([WD_CUDA], [
  AC_ARG_VAR([NVCC], [CUDA compiler])
  AC_ARG_VAR([NVCC_ARCH], [what cards to compile for, as flags of nvcc
    @<:@-gencode for sm_80, sm_90 and the PTX of the latter@:>@])
  AC_ARG_VAR([NVCCFLAGS], [flags of the CUDA compiler @<:@-O3 -lineinfo, compressed@:>@])
  : ${NVCC_ARCH="-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=@<:@sm_90,compute_90@:>@"}
  : ${NVCCFLAGS="-O3 -lineinfo -Xfatbin=-compress-all"}
  wd_cuda=no
  CUDA_CPPFLAGS=
  CUDA_LIBS=
  AS_CASE([$with_cuda],
    [no], [wd_cuda_places= NVCC=],
    [yes|auto], [wd_cuda_places="$CUDA_HOME /usr/local/cuda"],
    [wd_cuda_places="$with_cuda"])
  wd_cuda_path=
  for wd_place in $wd_cuda_places; do
    wd_cuda_path="$wd_cuda_path$wd_place/bin$PATH_SEPARATOR"
  done
  AS_CASE([$with_cuda], [no], [],
    [yes|auto], [AC_PATH_PROG([NVCC], [nvcc], [], [$wd_cuda_path$PATH])],
    [AC_PATH_PROG([NVCC], [nvcc], [], [$wd_cuda_path])])

  # The headers, with nvcc or without.
  if test -n "$NVCC"; then
    wd_cuda_places="`dirname "$NVCC"`/.. $wd_cuda_places"
  fi
  for wd_place in $wd_cuda_places; do
    if test -f "$wd_place/include/cuda_runtime.h"; then
      CUDA_CPPFLAGS="-isystem `cd "$wd_place/include" && pwd`"
      break
    fi
  done

  if test -n "$NVCC"; then
    AC_MSG_CHECKING([for the CUDA runtime as a static library])
    for wd_place in $wd_cuda_places; do
      for wd_lib in "$wd_place"/lib64 "$wd_place"/targets/*/lib \
          "$wd_place"/lib "$wd_place"/lib/*-linux-gnu; do
        if test -z "$CUDA_LIBS" && test -f "$wd_lib/libcudart_static.a"; then
          CUDA_LIBS="`cd "$wd_lib" && pwd`/libcudart_static.a"
        fi
      done
    done
    AC_MSG_RESULT([${CUDA_LIBS:-no}])
    AC_MSG_CHECKING([whether nvcc makes a program])
    cat >conftest.cu <<'WD_END'
#include <cuda_runtime.h>
__global__ void none() { }
int main() { none<<<1, 1>>>(); return cudaGetLastError() == cudaSuccess; }
WD_END
    if test -n "$CUDA_LIBS" &&
       "$NVCC" $NVCC_ARCH -std=c++17 -c conftest.cu -o conftest.o >&AS_MESSAGE_LOG_FD 2>&1 &&
       $CXX $CXXFLAGS $LDFLAGS conftest.o $CUDA_LIBS -lpthread -ldl -lrt \
         -o conftest >&AS_MESSAGE_LOG_FD 2>&1; then
      wd_cuda=`"$NVCC" --version 2>/dev/null |
        "$SED" -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
      test -n "$wd_cuda" || wd_cuda=unknown
      CUDA_LIBS="$CUDA_LIBS -lpthread -ldl -lrt"
    fi
    rm -f conftest.cu conftest.o conftest
    AC_MSG_RESULT([$wd_cuda])
  fi
  AS_CASE([$with_cuda], [no|auto], [],
    [AS_IF([test "$wd_cuda" = no], [wd_missing="$wd_missing
    CUDA 12     (asked for by --with-cuda; config.log says what failed)"])])
  AS_IF([test "$wd_cuda" = no], [CUDA_LIBS=])
  AC_SUBST([CUDA_CPPFLAGS])
  AC_SUBST([CUDA_LIBS])
])

# WD_CUDASIM: wd_cudasim is yes where the simulator can be built: CUDA's headers
# (CUDA_CPPFLAGS) and Boost.Context, else why not. Sets CUDASIM_LIBS.
AC_DEFUN([WD_CUDASIM], [
  wd_cudasim=yes
  CUDASIM_LIBS="-lboost_context -lfftw3 -lfftw3f -ldl"
  AS_IF([test "$with_cuda" = no], [wd_cudasim="no: --without-cuda"], [
    AC_LANG_PUSH([C++])
    wd_saved_cppflags="$CPPFLAGS"
    wd_saved_libs="$LIBS"
    CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
    LIBS="$CUDASIM_LIBS $LIBS"
    AC_MSG_CHECKING([for the headers of CUDA 12 in C++])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
      #include <cuda_runtime.h>
      #if CUDART_VERSION < 12000
      #error CUDA 12 is needed
      #endif]])], [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no]); wd_cudasim="no: the headers of CUDA are missing"])
    AC_MSG_CHECKING([for Boost.Context])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[
      #include <boost/context/detail/fcontext.hpp>]],
      [[boost::context::detail::make_fcontext(0, 0, 0)]])],
      [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       wd_cudasim="no: Boost.Context is missing (Debian: libboost-context-dev)"])
    AC_MSG_CHECKING([for FFTW in double and in single precision])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[
      #include <fftw3.h>]],
      [[fftw_cleanup(); fftwf_cleanup()]])],
      [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       wd_cudasim="no: FFTW is missing (Debian: libfftw3-dev)"])
    CPPFLAGS="$wd_saved_cppflags"
    LIBS="$wd_saved_libs"
    AC_LANG_POP([C++])
  ])
  AC_SUBST([CUDASIM_LIBS])
])
