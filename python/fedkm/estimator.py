"""FedKMeans: an estimator in the manner of scikit-learn, whose numbers come from the fedkm command bit for bit."""

import inspect
import json
import pathlib
import sys
import warnings

import numpy as np

from .command import ask
from .devices import aligned, check_order, column_names, devices_of, has_tables, links_of
from .picture import Picture, history_picture, model_page


class FedKMeans:
    """Federated k-means: devices with data of their own find clusters together.

    Parameters
    ----------
    n_clusters : int, default None
        Clusters of every device; None: as many as ``fedkm choose`` finds.
    alpha : float, default 1.0
        How strongly neighbours pull: 0 is alone, large values give one clustering for all.
    graph : str, networkx graph or matrix of weights, default "complete"
        Which devices are linked: complete, ring, path, star, er:P, knn:K, alike:RULE (those of RULE whose ends
        have the same clusters), or a graph whose nodes are the devices.
    method : str, default "fedkm"
        The method of the paper, or one to compare with: consensus, local, pooled, distributed, ...
    device_column : str or int, default None
        Of one table: the column that names the device of each row. Without it the table is a single device.
    random_state : int, RandomState or Generator, default 1
        The seed of everything random, or what it is drawn from.
    weighting : {"sample", "device"}, default None
        Weight rows or devices equally. None is what ``fedkm fit`` does: rows ("sample"), or devices with preset="paper".
    init : str or array, default None
        As in ``fedkm fit``, or centroids to start at: (n_clusters, features), or the same for each device.
    preset, schedule, rounds, coupling, penalty, tol, privacy, min_rows, epsilon : default None
        As in ``fedkm fit``; None leaves its default. ``method="shared"`` takes ``privacy="private"`` and ``epsilon``.

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
    measures_ : dict
        How far devices are apart: ``total_variation`` over the links, and ``consensus_variation`` (CV).
    history_ : list of dict
        The start and every round: ``round``, ``objective``, ``total_variation``, ``messages`` and ``bytes`` so far.
    """

    _estimator_type = "clusterer"

    def __init__(
        self,
        n_clusters=None,
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
        epsilon=None,
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
        self.epsilon = epsilon

    def fit(self, X, y=None, sample_weight=None):
        """Fits a list of tables (a device each), a dict of them, or one table with a device column or without.

        ``sample_weight`` has the form of the labels. Whole weights give what repeated rows give, to the bit.
        """
        if self.device_column is not None and has_tables(X):
            raise ValueError(f"device_column is for one table, got {self.device_column!r} and {len(X)} tables")
        devices = devices_of(X, self.device_column)
        for name, matrix in zip(devices.names, devices.matrices):
            _check_width(matrix, devices.matrices[0].shape[1], f"device {name!r}")
        weights = None if sample_weight is None else devices.weights(sample_weight)
        start = self._start(devices)
        header, arrays = ask(
            {
                **self._request("fit", devices),
                "weighted": weights is not None,
                "started": len(start) > 0,
            },
            [*devices.matrices, *(weights or []), *start],
        )
        count = len(devices.names)
        # Of private rows the means are no answer: they are what the noise hides.
        means = arrays[-2] if self.privacy != "private" else np.full_like(arrays[-2], np.nan)
        self._take(header["model"], np.stack(arrays[:count]), means)
        self.devices_ = devices.names
        self.device_sizes_ = arrays[-1].astype(np.int64)
        labels = self._take_labels(devices, arrays[count : 2 * count])
        squares = [
            ((rows - centers[of_rows]) ** 2).sum(axis=1)
            for rows, centers, of_rows in zip(devices.matrices, self.device_centers_, labels)
        ]
        counts = weights or [np.ones((len(rows), 1)) for rows in devices.matrices]
        self.inertia_ = float(sum((own * count[:, 0]).sum() for own, count in zip(squares, counts)))
        self.measures_ = {_python_name(name): value for name, value in header["measures"].items()}
        self._take_columns(devices.columns)
        vars(self).pop("_summaries", None)
        return self

    def partial_fit(self, X, y=None, sample_weight=None):
        """Takes further rows of the same devices, and answers for all rows so far. Clusters keep their numbers.

        Each device keeps a weighted summary of its rows, of at most 100 rows for each cluster, or 2,000.
        ``labels_`` are those of the new rows. Without ``n_clusters`` the clusters are counted in the first rows.
        """
        if self.method != "fedkm":
            raise ValueError(f"partial_fit must be used with method 'fedkm', got {self.method!r}")
        before = getattr(self, "_summaries", None)
        if before and not has_tables(X) and not self._has_devices(X):
            check_order(X, self._columns())
        devices = self._devices(X, self.device_column) if before else devices_of(X, self.device_column)
        for name, matrix in zip(devices.names, devices.matrices):
            _check_width(matrix, self.n_features_in_ if before else devices.matrices[0].shape[1], f"device {name!r}")
        if before and self.n_clusters not in (None, len(self.cluster_centers_)):
            raise ValueError(f"n_clusters must be {len(self.cluster_centers_)} (as before), got {self.n_clusters!r}")
        if before and devices.names != self.devices_:
            raise ValueError(f"X must be of the devices {self.devices_} (as before), got {devices.names}")
        weights = None if sample_weight is None else devices.weights(sample_weight)
        request = self._request("partial", devices)
        if self.n_clusters is None:
            counted = self if before else type(self)(**self.get_params()).fit(X)
            request["request"]["k"] = len(counted.cluster_centers_)
        header, arrays = ask(
            {
                **request,
                "weighted": weights is not None,
                "lost": [lost for _, _, lost in before] if before else None,
            },
            [
                *devices.matrices,
                *(weights or []),
                *(self.device_centers_ if before else []),
                *([points for points, _, _ in before] + [own for _, own, _ in before] if before else []),
            ],
        )
        count = len(devices.names)
        centers, labels, points, masses = (arrays[i * count : (i + 1) * count] for i in range(4))
        self._summaries = list(zip(points, masses, header["lost"]))
        nearest = [_distances(own, rows).argmin(axis=1) for own, rows in zip(centers, points)]
        sizes = np.zeros((count, len(centers[0])))
        sums = np.zeros(centers[0].shape)
        for i, (own, rows, mass) in enumerate(zip(nearest, points, masses)):
            np.add.at(sizes[i], own, mass[:, 0])
            np.add.at(sums, own, mass * rows)
        with np.errstate(invalid="ignore"):
            means = sums / sizes.sum(axis=0)[:, None]
        self.device_centers_ = np.stack(centers)
        self.cluster_centers_ = _common_centers(self.device_centers_, means)
        self.devices_ = devices.names
        self.device_sizes_ = sizes
        self._take_labels(devices, labels)
        self.inertia_ = header["inertia"]
        self._take_run(header)
        self._take_columns(devices.columns)
        return self

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fits, and returns the labels."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X, device=None):
        """The nearest cluster of every row, by the centroids of its device where that is known, else by the common ones.

        The device is known where it is given, where X is a list as in ``fit``, and where X has the device column.
        """
        return self._by_device(X, device, _nearest)

    def nearest_clusters(self, rows, device=0):
        """``predict`` for a matrix whose columns are known to be right, by the centroids of a device by its number."""
        return self._on_scale(_nearest, self.device_centers_[device], rows)

    def transform(self, X, device=None):
        """The distance of every row to every centroid."""
        return self._in_container(self._by_device(X, device, _distances), X)

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fits, and returns the distances."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X, y=None, sample_weight=None):
        """Minus the sum of squared distances of rows to their nearest centroids."""
        distances = self._by_device(X, None, _distances)
        if not isinstance(distances, list):
            distances, sample_weight = [distances], None if sample_weight is None else [sample_weight]
        squares = [table.min(axis=1) ** 2 for table in distances]
        weights = [1] * len(squares) if sample_weight is None else sample_weight
        return -float(sum((own * np.asarray(weight)).sum() for own, weight in zip(squares, weights)))

    def silhouette(self, X):
        """The mean over rows of (b - a) / max(a, b), with the distances a and b to the nearest and the next centroid."""
        distances = self._by_device(X, None, _distances)
        tables = np.concatenate(distances) if isinstance(distances, list) else distances
        if tables.shape[1] == 1:
            return 0.0
        a, b = np.partition(tables, 1, axis=1)[:, :2].T
        return float(np.divide(b - a, b, out=np.zeros_like(b), where=b > 0).mean())

    def plot_history(self):
        """The objective round by round: a picture that notebooks show, and that ``save`` writes as SVG."""
        self._check_fitted()
        return Picture(history_picture(self.history_))

    def save(self, path):
        """Writes the model as ``fedkm fit`` does, for ``fedkm predict``, ``verify``, ``export`` and ``load``."""
        self._check_fitted()
        if not hasattr(self, "_model"):
            raise ValueError("save must be called after fit, got a model of partial_fit, which has a summary of its rows")
        centers = [{**device, "centroids": own.tolist()} for device, own in zip(self._model["devices"], self.device_centers_)]
        pathlib.Path(path).write_text(json.dumps({**self._model, "devices": centers}), "utf-8")

    @classmethod
    def load(cls, path):
        """The model of a file that ``save`` or ``fedkm fit`` wrote, ready to predict."""
        try:
            model = json.loads(pathlib.Path(path).read_text("utf-8"))
        except ValueError:
            model = None
        if not isinstance(model, dict) or model.get("format") != "fedkm-model":
            raise ValueError(f"{path} must be a model of fedkm, got another file")
        missing = [name for name in ("columns", "options", "scaling", "devices", "links", "history") if name not in model]
        if missing:
            raise ValueError(f"{path} must be a whole model of fedkm, got one without {', '.join(missing)}")
        if "transforms" in model["scaling"] or "encoding" in model:
            raise ValueError(f"{path} must have no categories, ranks or logarithms: fedkm predict labels rows by it")
        options = {_python_name(name): value for name, value in model["options"].items()}
        names = {parameter: name for parameter, name in _REQUEST_NAMES.items()}
        known = {name: options[names.get(name, name)] for name in _parameters() if names.get(name, name) in options}
        # Of links that were listed the model has the list.
        if len(model["devices"]) == 1:
            del known["graph"]
        elif known.get("graph") not in _RULES and not str(known.get("graph")).startswith(("er:", "knn:", "alike")):
            known["graph"] = _weights_of_links(model)
        found = cls(**known)
        centers = np.array([device["centroids"] for device in model["devices"]])
        none = {"mean": None}
        means = [own["mean"] or [np.nan] * centers.shape[2] for own in model.get("clusters", [none] * centers.shape[1])]
        found._take(model, centers, np.array(means))
        names = [device["name"] for device in model["devices"]]
        # Tables of a list have numbers, which a file has as texts.
        found.devices_ = list(range(len(names))) if names == [str(i) for i in range(len(names))] else names
        found.device_sizes_ = np.array([device["sizes"] for device in model["devices"]])
        found._take_columns(model["columns"] if model["columns"] != _usual_columns(found.n_features_in_) else None)
        return found

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

    def _repr_html_(self):
        return model_page(self)

    def __repr__(self):
        defaults = inspect.signature(FedKMeans.__init__).parameters
        said = [f"{name}={value!r}" for name, value in self.get_params().items() if not _is_same(value, defaults[name].default)]
        return f"FedKMeans({', '.join(said)})"

    def __sklearn_tags__(self):
        """What newer versions of scikit-learn ask of an estimator; nothing else here needs it."""
        from sklearn.utils import Tags, TargetTags, TransformerTags

        target = TargetTags(required=False)
        return Tags(estimator_type="clusterer", target_tags=target, transformer_tags=TransformerTags())

    def _options(self, rows):
        """What is asked of the command besides rows, graph and method, by the names that it has for parameters."""
        if self.n_clusters is not None and (not _is_integer(self.n_clusters) or self.n_clusters < 1):
            raise ValueError(f"n_clusters must be an integer of at least 1, got {self.n_clusters!r}")
        if self.n_clusters is not None and self.n_clusters > rows:
            raise ValueError(f"n_clusters must be at most {rows} (the rows of all devices), got {self.n_clusters}")
        if not isinstance(self.method, str):
            raise ValueError(f"method must be a text, got {self.method!r}")
        if self.min_rows is not None and (not _is_integer(self.min_rows) or self.min_rows < 1):
            raise ValueError(f"min_rows must be an integer of at least 1, got {self.min_rows!r}")
        apart = ("graph", "method", "device_column")
        given = {name: value for name, value in self.get_params().items() if name not in apart}
        given["random_state"] = _seed_of(self.random_state)
        if _is_array(self.init):
            del given["init"]
        options = {}
        for name, value in given.items():
            value = value.item() if isinstance(value, np.generic) else value
            if not isinstance(value, (str, int, float, type(None))):
                meant = "a text or an array of centroids" if name == "init" else "a number or a text"
                raise ValueError(f"{name} must be {meant}, got {value!r}")
            if isinstance(value, float) and not np.isfinite(value):
                raise ValueError(f"{name} must be finite, got {value}")
            if value is not None:
                options[_REQUEST_NAMES.get(name, name)] = value
        return options

    def _request(self, kind, devices):
        """What is asked besides the rows; the names are for the model."""
        return {
            "ask": kind,
            "names": [str(name) for name in devices.names],
            "columns": devices.columns,
            "request": {
                "method": self.method,
                "graph": links_of(self.graph, devices.names),
                **self._options(sum(len(matrix) for matrix in devices.matrices)),
            },
        }

    def _start(self, devices):
        """Centroids where every device starts, if ``init`` is an array of them."""
        if not _is_array(self.init):
            return []
        if self.n_clusters is None:
            raise ValueError("n_clusters must be a number with centroids to start at, got None")
        shape = (len(devices.names), self.n_clusters, devices.matrices[0].shape[1])
        # Each set of centroids is a table, so names of its columns are seen to.
        is_for_each = has_tables(self.init) or getattr(self.init, "ndim", 2) == 3
        sets = list(self.init) if is_for_each else [self.init] * shape[0]
        start = [aligned(own, "init", devices.columns if column_names(own) else None) for own in sets]
        shapes = [own.shape for own in start]
        if shapes != [shape[1:]] * shape[0]:
            got = (len(start), *shapes[0]) if is_for_each else shapes[0]
            raise ValueError(f"init must have the shape {shape[1:]} or {shape}, got {got}")
        return start

    def _take(self, model, centers, means):
        """What a model says of a run; its centroids are kept as an array."""
        self._model = {**model, "devices": [{**own, "centroids": None} for own in model["devices"]]}
        self.device_centers_ = centers
        self.cluster_centers_ = _common_centers(centers, means)
        self.n_features_in_ = self.cluster_centers_.shape[1]
        self._take_run(model)

    def _take_run(self, run):
        self.objective_ = run["objective"]
        self.n_iter_ = run["rounds"]
        self.converged_ = run["converged"]
        self.n_messages_ = run["messages"]
        self.n_bytes_ = run["bytes"]
        self.history_ = [{_python_name(name): value for name, value in one.items()} for one in run["history"]]

    def _take_labels(self, devices, arrays):
        labels = [own[:, 0].astype(np.int32) for own in arrays]
        self.labels_ = devices.like_given(labels)
        return labels

    def _take_columns(self, columns):
        self.n_features_in_ = self.cluster_centers_.shape[1]
        vars(self).pop("feature_names_in_", None)
        if columns is not None:
            self.feature_names_in_ = np.asarray(columns, dtype=object)

    def _check_fitted(self):
        if not hasattr(self, "cluster_centers_"):
            raise _not_fitted()

    def _by_device(self, X, device, compute):
        """What `compute` finds for rows of each device by their centroids, in the form of X."""
        self._check_fitted()
        if device is not None:
            return self._on_scale(compute, self._centers_of(device), self._matrix(X))
        if not has_tables(X) and not self._has_devices(X):
            check_order(X, self._columns())
            centers = self.device_centers_[0] if len(self.devices_) == 1 else self.cluster_centers_
            return self._on_scale(compute, centers, self._matrix(X))
        devices = self._devices(X, self.device_column)
        answers = []
        for name, matrix in zip(devices.names, devices.matrices):
            _check_width(matrix, self.n_features_in_, f"device {name!r}")
            answers.append(self._on_scale(compute, self._centers_of(name), matrix))
        return devices.like_given(answers)

    def _on_scale(self, compute, centers, rows):
        """Of a model that was loaded: distances are measured on its scale."""
        scaling = getattr(self, "_model", {}).get("scaling", {"kind": "none"})
        if scaling["kind"] == "none":
            return compute(centers, rows)
        offset, scale = np.array(scaling["offset"]), np.array(scaling["scale"])
        return compute((centers - offset) / scale, (rows - offset) / scale)

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
        if column_names(X) is not None:
            return self.device_column in column_names(X)
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


#: The links that need no list.
_RULES = ("complete", "ring", "path", "star")


def _usual_columns(count):
    """What the command calls columns without names."""
    return [f"x{c + 1}" for c in range(count)]


def _weights_of_links(model):
    number = {device["name"]: i for i, device in enumerate(model["devices"])}
    weights = np.zeros((len(number), len(number)))
    for link in model["links"]:
        i, j = (number[name] for name in link["devices"])
        weights[i, j] = weights[j, i] = link["weight"]
    return weights


def _python_name(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _is_array(value):
    return hasattr(value, "__array__") or has_tables([value]) or has_tables(value)


def _is_integer(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _seed_of(random_state):
    """A number, or one drawn from what draws numbers: a RandomState, a Generator, numpy.random itself."""
    if hasattr(random_state, "randint"):
        return random_state.randint(2**31 - 1)
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31 - 1))
    if random_state is not None and not (_is_integer(random_state) and abs(random_state) < 2**53):
        raise ValueError(f"random_state must be an integer below 2**53, or draw some, got {random_state!r}")
    return random_state


def _is_same(value, default):
    return value is default or (not _is_array(value) and np.ndim(value) == 0 and value == default)


#: Where the command has another name for a parameter.
_REQUEST_NAMES = {"n_clusters": "k", "random_state": "seed", "min_rows": "minRows"}


def _parameters():
    return [name for name in inspect.signature(FedKMeans.__init__).parameters if name != "self"]


def _index(table):
    return table.index if hasattr(table, "iloc") else None


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
