"""scikit-learn's bare Lloyd iteration and FAISS as programs of the comparison: a job per line in, an answer per line out."""

import json
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")


def lloyd(points, start, cap):
    from sklearn.cluster._kmeans import _kmeans_single_lloyd

    weights = np.ones(len(points), points.dtype)
    labels, _, _, iterations = _kmeans_single_lloyd(points, weights, start.copy(), max_iter=cap, tol=0, n_threads=1)
    return labels, iterations


def by_faiss(points, start, cap):
    import faiss

    faiss.omp_set_num_threads(1)
    # Without these two it would look at a sample of the points, or complain that they are few.
    limits = {"max_points_per_centroid": len(points), "min_points_per_centroid": 1}
    kmeans = faiss.Kmeans(points.shape[1], len(start), niter=cap, **limits)
    kmeans.train(points, init_centroids=start)
    return kmeans.assign(points)[1], cap


def answer(job):
    m, d, k, jobs = job["m"], job["d"], job["k"], job["jobs"]
    run = by_faiss if job["program"] == "faiss" else lloyd
    kind = np.float64 if job["program"] == "lloyd64" else np.float32
    points = np.fromfile(job["points"]).reshape(jobs, m, d).astype(kind, copy=False)
    starts = [np.ascontiguousarray(own[:k]) for own in points]
    run(points[0][: 4 * k], starts[0], 1)  # Imports and first calls are not timed.
    best, spent = float("inf"), 0
    for _ in range(job["repeats"]):
        begin = time.process_time()
        found = [run(own, start, job["cap"]) for own, start in zip(points, starts)]
        seconds = time.process_time() - begin
        best = min(best, seconds)
        spent += seconds
        if spent >= job["budget"]:
            break
    np.concatenate([labels for labels, _ in found]).astype(np.uint32).tofile(job["labels"])
    return {"seconds": best, "iterations": int(sum(iterations for _, iterations in found))}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
