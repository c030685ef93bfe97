#!/usr/bin/env python3
"""Write lj_cluster.xyz: the 38-particle Lennard-Jones cluster of least energy.

An octahedron of fcc sites (44 sites) without its six corners is a truncated
octahedron of 38 sites. The sites, at the nearest-neighbour distance of the pair
minimum, are relaxed with the full potential by Newton's method until no force
is left; the energy is then -173.928427 (Wales and Doye 1997).

    python3 make_cluster.py > lj_cluster.xyz
"""

import itertools

import numpy as np

BOX = 20.0


def truncated_octahedron():
    """The 38 sites, [38][3], centred on a hole of the lattice."""
    sites = np.array(
        [
            p
            for p in itertools.product(range(-3, 4), repeat=3)
            if sum(p) % 2 == 1 and sum(map(abs, p)) <= 3 and max(map(abs, p)) < 3
        ],
        dtype=float,
    )
    nearest = 2.0 ** (1.0 / 6.0)
    return sites * nearest / np.sqrt(2.0)


def energy_gradient_hessian(x):
    """u = 4 (r^-12 - r^-6) summed over pairs, its gradient and Hessian."""
    n = len(x)
    d = x[:, None, :] - x[None, :, :]
    r2 = (d * d).sum(-1) + np.eye(n)
    s6 = r2**-3 * (1.0 - np.eye(n))
    energy = 2.0 * (s6 * s6 - s6).sum()
    first = -24.0 * (2.0 * s6 * s6 - s6) / r2  # u' / r
    second = (624.0 * s6 * s6 - 168.0 * s6) / r2  # u''
    gradient = (first[..., None] * d).sum(1)
    block = (
        ((second - first) / r2)[..., None, None] * d[..., :, None] * d[..., None, :]
        + first[..., None, None] * np.eye(3)
    )
    hessian = -block
    hessian[np.arange(n), np.arange(n)] = block.sum(1)
    hessian = hessian.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)
    return energy, gradient, hessian


def relax(x):
    """Newton steps; the six rigid motions are left out by the least-squares
    solution."""
    for _ in range(50):
        energy, gradient, hessian = energy_gradient_hessian(x)
        if np.abs(gradient).max() < 1e-12:
            break
        step = np.linalg.lstsq(hessian, -gradient.ravel(), rcond=1e-9)[0]
        x = x + np.clip(step.reshape(-1, 3), -0.05, 0.05)
    return x, energy


def main():
    x, energy = relax(truncated_octahedron())
    x = x - x.mean(0) + BOX / 2
    print(len(x))
    print(
        f'Lattice="{BOX} 0 0 0 {BOX} 0 0 0 {BOX}" '
        f'Properties=species:S:1:pos:R:3 pbc="T T T" energy={energy:.6f}'
    )
    for row in x:
        print("A " + " ".join(f"{c:.12f}" for c in row))


if __name__ == "__main__":
    main()
