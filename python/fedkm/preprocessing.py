"""Scaling and categories for tables of several devices, from sums and counts alone: no row leaves a device."""

import numpy as np

from .devices import column_names, devices_of, has_tables, without_column


class _ByDevice:
    """What both have: parameters, names of columns, and tables one by one."""

    def get_params(self, deep=True):
        """The parameters by name."""
        return {"device_column": self.device_column}

    def set_params(self, **params):
        """Sets parameters by name."""
        for name, value in params.items():
            if name != "device_column":
                raise ValueError(f"Invalid parameter {name!r} for {type(self).__name__}. Valid ones: ['device_column'].")
            self.device_column = value
        return self

    def fit_transform(self, X, y=None):
        """Fits, and returns the transformed tables."""
        return self.fit(X).transform(X)

    def set_output(self, *, transform=None):
        """Whether arrays become arrays ("default") or pandas frames ("pandas"); frames stay frames. None changes nothing."""
        if transform not in (None, "default", "pandas"):
            raise ValueError(f"transform must be default or pandas, got {transform!r}")
        if transform is not None:
            self._output = transform
        return self

    def _as_asked(self, X, changed):
        """Tables as ``set_output`` has it; one table with a device column keeps the form that it has."""
        if getattr(self, "_output", "default") != "pandas":
            return changed
        if isinstance(changed, dict):
            return {name: self._as_asked(X[name], table) for name, table in changed.items()}
        if isinstance(changed, list):
            return [self._as_asked(table, own) for table, own in zip(X, changed)]
        if hasattr(changed, "iloc") or changed.shape[1] != len(self.get_feature_names_out()):
            return changed
        import pandas

        return pandas.DataFrame(changed, X.index if hasattr(X, "iloc") else None, self.get_feature_names_out())

    def __repr__(self):
        return f"{type(self).__name__}({'' if self.device_column is None else f'device_column={self.device_column!r}'})"


class FederatedStandardScaler(_ByDevice):
    """Mean 0 and variance 1 of every column over all devices, as scikit-learn's ``StandardScaler`` of the pooled rows.

    A device tells the number of its rows and two sums of each column: first of the values, then of their squared
    distances to the common mean. Takes what ``FedKMeans`` takes, and gives it back in the same form.
    """

    def __init__(self, *, device_column=None):
        self.device_column = device_column

    def fit(self, X, y=None):
        """Finds the mean and the scale of every column."""
        devices = devices_of(X, self.device_column)
        count = sum(len(rows) for rows in devices.matrices)
        self.mean_ = sum(rows.sum(axis=0) for rows in devices.matrices) / count
        self.var_ = sum(((rows - self.mean_) ** 2).sum(axis=0) for rows in devices.matrices) / count
        # A column of one value stays as it is, but for its mean.
        self.scale_ = np.where(self.var_ > 0, np.sqrt(self.var_), 1.0)
        self.n_samples_seen_ = count
        self.n_features_in_ = len(self.mean_)
        vars(self).pop("feature_names_in_", None)
        if devices.columns is not None:
            self.feature_names_in_ = np.asarray(devices.columns, dtype=object)
        return self

    def transform(self, X):
        """The tables on the common scale, in the form in which they were given."""
        names = getattr(self, "feature_names_in_", None)
        return self._each(X, lambda rows: (rows - self.mean_) / self.scale_, None if names is None else names.tolist())

    def inverse_transform(self, X):
        """The tables in their own units again, such as centroids."""
        return self._each(X, lambda rows: rows * self.scale_ + self.mean_, None)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns, which stay."""
        names = getattr(self, "feature_names_in_", None)
        return np.asarray([f"x{c}" for c in range(self.n_features_in_)], dtype=object) if names is None else names

    def _each(self, X, change, columns):
        if not hasattr(self, "mean_"):
            raise ValueError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' before using it.")
        return self._as_asked(X, _like_given(X, self.device_column, columns, change))


class FederatedOneHotEncoder(_ByDevice):
    """Categories as columns of 0 and 1, the same on all devices, whatever categories each of them has.

    A device tells which categories it has, by name, and nothing of its rows. Takes lists or dicts of frames or arrays.
    """

    def __init__(self, *, device_column=None):
        self.device_column = device_column

    def fit(self, X, y=None):
        """Collects the categories of every column."""
        tables = list(_tables(X, self.device_column).values())
        names = column_names(tables[0])
        self.n_features_in_ = np.asarray(tables[0], dtype=object).shape[1]
        vars(self).pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        found = [set() for _ in range(self.n_features_in_)]
        for table in tables:
            for seen, column in zip(found, self._columns(table)):
                seen.update(column)
        self.categories_ = [np.array(sorted(seen, key=lambda one: (str(type(one)), one)), dtype=object) for seen in found]
        return self

    def transform(self, X):
        """One column for each category. A category that no device had is refused."""
        if not hasattr(self, "categories_"):
            raise ValueError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' before using it.")
        return self._as_asked(X, self._encoded_tables(X))

    def _encoded_tables(self, X):
        encoded = {name: self._encoded(table) for name, table in _tables(X, self.device_column).items()}
        if isinstance(X, dict):
            return encoded
        if has_tables(X):
            return list(encoded.values())
        if self.device_column is None:
            return encoded[0]
        device = np.asarray(X[self.device_column] if column_names(X) else np.asarray(X)[:, self.device_column])
        whole = np.empty((len(device), len(self.get_feature_names_out())))
        for name, rows in encoded.items():
            whole[device == name] = rows
        return whole

    def get_feature_names_out(self, input_features=None):
        """Names such as ``kind_oak``."""
        names = getattr(self, "feature_names_in_", [f"x{c}" for c in range(self.n_features_in_)])
        return np.asarray([f"{name}_{one}" for name, own in zip(names, self.categories_) for one in own], dtype=object)

    def _encoded(self, table):
        parts = []
        for c, (known, column) in enumerate(zip(self.categories_, self._columns(table))):
            number = {one: i for i, one in enumerate(known)}
            stranger = next((one for one in column if one not in number), None)
            if stranger is not None:
                raise ValueError(f"column {c} must have categories that a device had at fit, got {stranger!r}")
            part = np.zeros((len(column), len(known)))
            part[np.arange(len(column)), [number[one] for one in column]] = 1
            parts.append(part)
        return np.hstack(parts)

    def _columns(self, table):
        """The columns of a table by name, where there are names."""
        names = getattr(self, "feature_names_in_", None)
        own = column_names(table)
        if names is not None and own is not None:
            if sorted(own) != sorted(names):
                raise ValueError(f"tables must have the columns {list(names)}, got {own}")
            table = table[list(names)]
        values = np.asarray(table, dtype=object)
        if values.ndim != 2 or values.shape[1] != self.n_features_in_:
            raise ValueError(f"tables must have {self.n_features_in_} columns, got shape {values.shape}")
        if any(one is None or one != one for one in values.ravel()):
            raise ValueError("tables must have a category in every cell, got a missing one")
        return values.T.tolist()


def _tables(X, device_column):
    """Tables by device, with whatever they hold."""
    if has_tables(X):
        return X if isinstance(X, dict) else dict(enumerate(X))
    if device_column is None:
        return {0: X}
    if hasattr(X, "columns"):
        return {name: without_column(own, device_column) for name, own in X.groupby(device_column)}
    values = np.asarray(X, dtype=object)
    rest = np.delete(values, device_column, axis=1)
    return {name: rest[values[:, device_column] == name] for name in sorted(set(values[:, device_column].tolist()))}


def _like_given(X, device_column, columns, change):
    """Every table changed, frames as frames; of one table with a device column that column stays as it is."""
    if isinstance(X, dict):
        return {name: _like_given(table, None, columns, change) for name, table in X.items()}
    if has_tables(X):
        return [_like_given(table, None, columns, change) for table in X]
    if device_column is None:
        (rows,) = devices_of(X, None, columns).matrices
        return _framed(X, change(rows), columns)
    if hasattr(X, "columns"):
        (rows,) = devices_of(without_column(X, device_column), None, columns).matrices
        frame = _framed(X, change(rows), columns or [name for name in X.columns if name != device_column])
        frame.insert(list(X.columns).index(device_column), device_column, X[device_column])
        return frame
    values = np.asarray(X, dtype=np.float64)
    rows = change(np.delete(values, device_column, axis=1))
    return np.insert(rows, device_column, values[:, device_column], axis=1)


def _framed(X, rows, columns):
    if not hasattr(X, "iloc"):
        return rows
    return type(X)(rows, index=X.index, columns=columns or X.columns)
