"""Warpdeck for Spack. From the folder of a release's archive:

    spack repo add packaging/spack
    spack install --no-checksum warpdeck +cuda cuda_arch=90
"""

import os

from spack.package import *

try:  # Spack 1.0 has moved its build systems
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
except ImportError:
    pass


class Warpdeck(AutotoolsPackage, CudaPackage):
    """Molecular dynamics, incompressible flow and Monte Carlo risk from input
    decks, over MPI ranks, on processors and NVIDIA cards."""

    manual_download = True
    url = f"file://{os.getcwd()}/warpdeck-0.1.0.tar.xz"

    license("Apache-2.0")

    version("0.1.0")

    variant("mpi", default=True, description="Run on several ranks")
    variant("hwloc", default=True, description="Describe the machine")
    # cuda and cuda_arch come from CudaPackage.

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("hdf5@1.10.8:+mpi", when="+mpi")
    depends_on("hdf5@1.10.8:~mpi", when="~mpi")
    depends_on("fftw-api@3")
    depends_on("fftw precision=double,float", when="^[virtuals=fftw-api] fftw")
    depends_on("netlib-lapack@3.5:+lapacke")
    depends_on("glpk")
    depends_on("tomlplusplus@3:")
    depends_on("random123")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("cuda@12:", when="+cuda")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-h5py", type=("build", "run"))
    depends_on("py-numpy", type=("build", "run"))
    depends_on("py-matplotlib", type="run")

    def configure_args(self):
        spec = self.spec
        args = ["PYTHON=" + spec["python"].command.path]
        if "+mpi" in spec:
            args.append("MPICC=" + spec["mpi"].mpicc)
        else:
            args.append("--without-mpi")
        if "~hwloc" in spec:
            args.append("--without-hwloc")
        if "+cuda" in spec:
            args.append("--with-cuda=" + spec["cuda"].prefix)
            archs = spec.variants["cuda_arch"].value
            if "none" not in archs:
                args.append("NVCC_ARCH=" + " ".join(self.cuda_flags(archs)))
        else:
            args.append("--without-cuda")
        return args
