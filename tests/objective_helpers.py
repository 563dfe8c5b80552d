"""A user's own module, imported by some objectives."""

import math

import numpy as np

SCALE = np.array([1.0, 2.0, 3.0])


def bump(t, centre, width=1.0):
    return math.exp(-(((t - centre) / width) ** 2))


def spread(x):
    out = np.zeros(len(x))
    for i, v in enumerate(x):
        out[i] = inner(v) * SCALE[i % 3]
    return out


def inner(v):
    return np.tanh(v) + abs(v)
