"""Whether two series of samples belong to two states of one ensemble: Shirts (2013),
J. Chem. Theory Comput. 9, 909.
"""

import numpy as np


def inefficiency(x):
    """How many samples count as one (Flyvbjerg and Petersen 1989's idea, by
    blocks of sqrt(n))."""
    block = int(np.sqrt(len(x)))
    means = x[:len(x) // block * block].reshape(-1, block).mean(1)
    return max(1.0, block * means.var(ddof=1) / x.var(ddof=1))


def thin(x):
    return x[::int(np.ceil(2 * inefficiency(x)))]


def slope(one, two):
    """Of ln(p2 / p1), and its standard error: logistic regression."""
    x = np.concatenate([one, two])
    label = np.concatenate([np.zeros(len(one)), np.ones(len(two))])
    middle, scale = x.mean(), x.std()
    a = np.stack([np.ones(len(x)), (x - middle) / scale], 1)
    w = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-a @ w))
        information = (a * (p * (1 - p))[:, None]).T @ a
        w += np.linalg.solve(information, a.T @ (label - p))
    return w[1] / scale, np.sqrt(np.linalg.inv(information)[1, 1]) / scale
