"""FedKMeans: an estimator in the manner of scikit-learn, whose numbers come from the fedkm command bit for bit."""

import inspect
import sys
import warnings

import numpy as np

from .command import ask
from .devices import check_order, devices_of, has_tables, links_of


class FedKMeans:
    """Federated k-means: devices with data of their own find clusters together.

    Parameters
    ----------
    n_clusters : int, default 3
        Clusters of every device.
    alpha : float, default 1.0
        How strongly neighbours pull: 0 is alone, large values give one clustering for all.
    graph : str, networkx graph or matrix of weights, default "complete"
        Which devices are linked: complete, ring, path, star, er:P, knn:K, or a graph whose nodes are the devices.
    method : str, default "fedkm"
        The method of the paper, or one to compare with: consensus, local, pooled, distributed, ...
    device_column : str or int, default None
        Of one table: the column that names the device of each row. Without it the table is a single device.
    random_state : int or RandomState, default 1
        The seed of everything random, or what it is drawn from.
    weighting : {"sample", "device"}, default None
        Weight rows or devices equally. None is what ``fedkm fit`` does: rows ("sample"), or devices with preset="paper".
    preset, init, schedule, rounds, coupling, penalty, tol, privacy, min_rows : default None
        As in ``fedkm fit``; None leaves its default.

    Attributes
    ----------
    device_centers_ : array of shape (devices, n_clusters, features)
        The centroids of every device; cluster c of one device is the counterpart of cluster c of the others.
    cluster_centers_ : array of shape (n_clusters, features)
        Of a single device its centroids; of several the means of the rows of each cluster in all devices.
    labels_ : array, or list of arrays where a list was given
        The cluster of every row by the centroids of its own device. Cluster 0 has the most rows.
    devices_ : list
        Names of the devices, in the order of ``device_centers_``.
    inertia_ : float
        The sum of squared distances of all rows to the centroids of their clusters.
    objective_, n_iter_, converged_, n_messages_, n_bytes_
        What was reached, and what it took.
    """

    _estimator_type = "clusterer"

    def __init__(
        self,
        n_clusters=3,
        alpha=1.0,
        graph="complete",
        method="fedkm",
        *,
        device_column=None,
        random_state=1,
        preset=None,
        init=None,
        schedule=None,
        rounds=None,
        coupling=None,
        weighting=None,
        penalty=None,
        tol=None,
        privacy=None,
        min_rows=None,
    ):
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.graph = graph
        self.method = method
        self.device_column = device_column
        self.random_state = random_state
        self.preset = preset
        self.init = init
        self.schedule = schedule
        self.rounds = rounds
        self.coupling = coupling
        self.weighting = weighting
        self.penalty = penalty
        self.tol = tol
        self.privacy = privacy
        self.min_rows = min_rows

    def fit(self, X, y=None):
        """Fits a list of tables (a device each), a dict of them, or one table with a device column or without."""
        if self.device_column is not None and has_tables(X):
            raise ValueError(f"device_column is for one table, got {self.device_column!r} and {len(X)} tables")
        devices = devices_of(X, self.device_column)
        for name, matrix in zip(devices.names, devices.matrices):
            _check_width(matrix, devices.matrices[0].shape[1], f"device {name!r}")
        header, arrays = ask(
            {
                "ask": "fit",
                "request": {
                    "method": self.method,
                    "graph": links_of(self.graph, devices.names),
                    **self._options(sum(len(matrix) for matrix in devices.matrices)),
                },
            },
            devices.matrices,
        )
        count = len(devices.names)
        self.devices_ = devices.names
        self.device_centers_ = np.stack(arrays[:count])
        labels = [labels[:, 0].astype(np.int32) for labels in arrays[count : 2 * count]]
        self.labels_ = devices.like_given(labels)
        nearest = (centers[of_rows] for centers, of_rows in zip(self.device_centers_, labels))
        self.inertia_ = float(sum(((rows - near) ** 2).sum() for rows, near in zip(devices.matrices, nearest)))
        self.device_sizes_ = arrays[-1].astype(np.int64)
        self.cluster_centers_ = _common_centers(self.device_centers_, arrays[-2])
        self.objective_ = header["objective"]
        self.n_iter_ = header["rounds"]
        self.converged_ = header["converged"]
        self.n_messages_ = header["messages"]
        self.n_bytes_ = header["bytes"]
        self.n_features_in_ = self.cluster_centers_.shape[1]
        vars(self).pop("feature_names_in_", None)
        if devices.columns is not None:
            self.feature_names_in_ = np.asarray(devices.columns, dtype=object)
        return self

    def fit_predict(self, X, y=None):
        """Fits, and returns the labels."""
        return self.fit(X).labels_

    def predict(self, X, device=None):
        """The nearest cluster of every row, by the centroids of its device where that is known, else by the common ones.

        The device is known where it is given, where X is a list as in ``fit``, and where X has the device column.
        """
        return self._by_device(X, device, _nearest)

    def transform(self, X, device=None):
        """The distance of every row to every centroid."""
        return self._in_container(self._by_device(X, device, _distances), X)

    def fit_transform(self, X, y=None):
        """Fits, and returns the distances."""
        return self.fit(X).transform(X)

    def score(self, X, y=None):
        """Minus the sum of squared distances of rows to their nearest centroids."""
        distances = self._by_device(X, None, _distances)
        tables = distances if isinstance(distances, list) else [distances]
        return -float(sum((table.min(axis=1) ** 2).sum() for table in tables))

    def set_output(self, *, transform=None):
        """Whether ``transform`` gives arrays ("default") or pandas frames ("pandas"); None changes nothing."""
        if transform not in (None, "default", "pandas"):
            raise ValueError(f"transform must be default or pandas, got {transform!r}")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_params(self, deep=True):
        """The parameters by name."""
        return {name: getattr(self, name) for name in _parameters()}

    def set_params(self, **params):
        """Sets parameters by name."""
        for name, value in params.items():
            if name not in _parameters():
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid ones: {_parameters()}.")
            setattr(self, name, value)
        return self

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of ``transform``."""
        self._check_fitted()
        return np.asarray([f"fedkmeans{c}" for c in range(len(self.cluster_centers_))], dtype=object)

    def __repr__(self):
        defaults = inspect.signature(FedKMeans.__init__).parameters
        said = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not defaults[name].default]
        return f"FedKMeans({', '.join(said)})"

    def __sklearn_tags__(self):
        """What newer versions of scikit-learn ask of an estimator; nothing else here needs it."""
        from sklearn.utils import Tags, TargetTags, TransformerTags

        target = TargetTags(required=False)
        return Tags(estimator_type="clusterer", target_tags=target, transformer_tags=TransformerTags())

    def _options(self, rows):
        """What is asked of the command besides rows, graph and method, by the names that it has for parameters."""
        if not isinstance(self.n_clusters, (int, np.integer)) or self.n_clusters < 1:
            raise ValueError(f"n_clusters must be an integer of at least 1, got {self.n_clusters!r}")
        if self.n_clusters > rows:
            raise ValueError(f"n_clusters must be at most {rows} (the rows of all devices), got {self.n_clusters}")
        apart = ("graph", "method", "device_column")
        given = {name: value for name, value in self.get_params().items() if name not in apart}
        if isinstance(self.random_state, np.random.RandomState):
            given["random_state"] = self.random_state.randint(2**31 - 1)
        options = {}
        for name, value in given.items():
            value = value.item() if isinstance(value, np.generic) else value
            if not isinstance(value, (str, int, float, type(None))):
                raise ValueError(f"{name} must be a number or a text, got {value!r}")
            if isinstance(value, float) and not np.isfinite(value):
                raise ValueError(f"{name} must be finite, got {value}")
            if value is not None:
                options[_REQUEST_NAMES.get(name, name)] = value
        return options

    def _check_fitted(self):
        if not hasattr(self, "cluster_centers_"):
            raise _not_fitted()

    def _by_device(self, X, device, compute):
        """What `compute` finds for rows of each device by their centroids, in the form of X."""
        self._check_fitted()
        if device is not None:
            return compute(self._centers_of(device), self._matrix(X))
        if not has_tables(X) and not self._has_devices(X):
            check_order(X, self._columns())
            centers = self.device_centers_[0] if len(self.devices_) == 1 else self.cluster_centers_
            return compute(centers, self._matrix(X))
        devices = self._devices(X, self.device_column)
        answers = []
        for name, matrix in zip(devices.names, devices.matrices):
            _check_width(matrix, self.n_features_in_, f"device {name!r}")
            answers.append(compute(self._centers_of(name), matrix))
        return devices.like_given(answers)

    def _in_container(self, distances, X):
        """Distances as ``set_output`` has it, or else scikit-learn's own setting, where that is loaded."""
        sklearn = sys.modules.get("sklearn")
        common = sklearn.get_config().get("transform_output", "default") if sklearn else "default"
        if getattr(self, "_sklearn_output_config", {}).get("transform", common) != "pandas":
            return distances
        import pandas

        columns = self.get_feature_names_out()
        if not isinstance(distances, list):
            return pandas.DataFrame(distances, index=_index(X), columns=columns)
        tables = X.values() if isinstance(X, dict) else X
        return [pandas.DataFrame(d, index=_index(t), columns=columns) for d, t in zip(distances, tables)]

    def _has_devices(self, X):
        if self.device_column is None:
            return False
        if hasattr(X, "columns"):
            return self.device_column in X.columns
        return np.shape(X)[1:] == (self.n_features_in_ + 1,)

    def _matrix(self, X):
        (matrix,) = self._devices(X, None).matrices
        if matrix.shape[1] != self.n_features_in_:
            expected = f"FedKMeans is expecting {self.n_features_in_} features as input"
            raise ValueError(f"X has {matrix.shape[1]} features, but {expected}")
        return matrix

    def _devices(self, X, device_column):
        """Further rows, their columns in the order of ``fit``."""
        columns = self._columns()
        devices = devices_of(X, device_column, columns)
        if columns is None and devices.columns is not None:
            warnings.warn("X has feature names, but FedKMeans was fitted without feature names")
        return devices

    def _columns(self):
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else names.tolist()

    def _centers_of(self, device):
        if device not in self.devices_:
            raise ValueError(f"device must be one of {self.devices_}, got {device!r}")
        return self.device_centers_[self.devices_.index(device)]


#: Where the command has another name for a parameter.
_REQUEST_NAMES = {"n_clusters": "k", "random_state": "seed", "min_rows": "minRows"}


def _parameters():
    return [name for name in inspect.signature(FedKMeans.__init__).parameters if name != "self"]


def _index(table):
    return table.index if hasattr(table, "columns") else None


def _check_width(matrix, width, name):
    if matrix.shape[1] != width:
        raise ValueError(f"{name} must have {width} columns, got {matrix.shape[1]}")


def _nearest(centers, points):
    _, (labels,) = ask({"ask": "predict"}, [centers, points])
    return labels[:, 0].astype(np.int32)


def _common_centers(device_centers, means):
    if len(device_centers) == 1:
        return device_centers[0].copy()
    # A cluster without any row has no mean.
    return np.where(np.isnan(means), device_centers.mean(axis=0), means)


#: Doubles of one block of differences: about 32 MB.
_BLOCK = 2**22


def _distances(centers, points):
    found = np.empty((len(points), len(centers)))
    step = max(1, _BLOCK // centers.size)
    for start in range(0, len(points), step):
        difference = points[start : start + step, None, :] - centers[None, :, :]
        found[start : start + step] = np.sqrt((difference**2).sum(axis=2))
    return found


def _not_fitted():
    message = "This FedKMeans instance is not fitted yet. Call 'fit' before using it."
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return ValueError(message)
    return NotFittedError(message)
