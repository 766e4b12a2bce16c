"""Algorithm 1 in numpy, vectorised: the peer that a researcher would write. Reads a problem, prints seconds and centroids."""

import json
import sys
import time

import numpy as np


def squares(a, b):
    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)


def update(points, own, neighbours, alpha, passes=100, tol=1e-12):
    m, k = len(points), len(own)
    stacked = np.concatenate(neighbours) if neighbours else np.empty((0, own.shape[1]))

    def assign(own):
        to_points = squares(points, own)
        to_own = squares(stacked, own)
        labels, matched = to_points.argmin(1), to_own.argmin(1)
        back = to_own.reshape(len(neighbours), k, k).argmin(1)
        value = to_points.min(1).sum() / m + alpha * (
            to_own.min(1).sum() + to_own.reshape(len(neighbours), k, k).min(1).sum()
        )
        return labels, matched, back, value

    labels, matched, back, value = assign(own)
    for _ in range(passes):
        weight = np.bincount(labels, minlength=k) / m + alpha * (np.bincount(matched, minlength=k) + len(neighbours))
        total = np.stack([np.bincount(labels, points[:, x], k) for x in range(own.shape[1])], 1) / m
        total += alpha * np.stack([np.bincount(matched, stacked[:, x], k) for x in range(own.shape[1])], 1)
        for other, nearest in zip(neighbours, back):
            total += alpha * other[nearest]
        own = np.where(weight[:, None] > 0, total / np.maximum(weight, 1e-300)[:, None], own)
        before = value
        labels, matched, back, value = assign(own)
        if before - value <= tol * max(1, abs(before)):
            break
    return own


problem = json.load(sys.stdin)
data = [np.array(points) for points in problem["points"]]
best = float("inf")
for _ in range(3):
    centroids = [np.array(start) for start in problem["start"]]
    begin = time.process_time()
    for _ in range(problem["rounds"]):
        for i, points in enumerate(data):
            centroids[i] = update(points, centroids[i], [centroids[j] for j in problem["neighbours"][i]], problem["alpha"])
    best = min(best, time.process_time() - begin)
json.dump({"seconds": best, "centroids": [own.tolist() for own in centroids]}, sys.stdout)
