"""Data and a measure in numpy: two half circles, and how far any centroid is from the pooled ones."""

import numpy as np


def moons(devices, points, seed):
    """Two half circles, dealt at random: data, classes and k."""
    random = np.random.default_rng(seed)
    turn = np.pi * random.random((devices, points))
    kind = random.integers(0, 2, (devices, points))
    x = np.where(kind, 1 - np.cos(turn), np.cos(turn))
    y = np.where(kind, 0.5 - np.sin(turn), np.sin(turn))
    return list(np.stack([x, y], axis=2)), list(kind), 2


def farthest(datasets, centroids, reference, graph):
    """The largest distance between a centroid of any device and the nearest pooled one."""
    return max(np.linalg.norm(own[:, None] - reference, axis=2).min(axis=1).max() for own in centroids)


datasets = {"moons": moons}
measures = {"farthest": farthest}
