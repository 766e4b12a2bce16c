"""Beside scikit-learn: its own checks of estimators, clone, pipelines and the search for parameters."""

import unittest
import warnings

import numpy as np

from fedkm import FedKMeans

try:
    import sklearn
except ImportError:
    sklearn = None

#: Checks that do not apply, with the reason. Empty: all that scikit-learn 1.2 runs for such an estimator pass.
NOT_APPLICABLE = {}


@unittest.skipIf(sklearn is None, "scikit-learn is not installed")
class BesideSklearn(unittest.TestCase):
    def test_the_checks_of_scikit_learn_pass(self):
        from sklearn.utils.estimator_checks import check_estimator

        ran = 0
        for estimator, check in check_estimator(FedKMeans(), generate_only=True):
            name = check.func.__name__
            if name in NOT_APPLICABLE:
                continue
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(estimator)
            ran += 1
        self.assertGreaterEqual(ran, 30)

    def test_the_check_of_column_names_passes(self):
        from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency

        check_dataframe_column_names_consistency("FedKMeans", FedKMeans())

    def test_the_checks_of_set_output_pass(self):
        from sklearn.utils import _tags, estimator_checks

        class Tagged(FedKMeans):
            """These checks ask for tags by a method that only estimators of scikit-learn have."""

            def _get_tags(self):
                return _tags._safe_tags(FedKMeans())

        for name in ["set_output_transform", "set_output_transform_pandas"]:
            with self.subTest(name), warnings.catch_warnings():
                # They give rows with names to models that were fitted without, and the other way round.
                warnings.filterwarnings("ignore", "X (has|does not have)")
                getattr(estimator_checks, f"check_{name}")("FedKMeans", Tagged())

    def test_distances_of_devices_are_frames_with_the_index_of_their_rows(self):
        import pandas

        frames = {name: pandas.DataFrame(np.eye(4) * 9, index=list(name * 4), columns=list("wxyz")) for name in "ab"}
        found = FedKMeans(2).set_output(transform="pandas").fit(frames).transform(frames)
        self.assertEqual([list(frame.index) for frame in found], [list("aaaa"), list("bbbb")])
        self.assertEqual(list(found[0].columns), ["fedkmeans0", "fedkmeans1"])
        with sklearn.config_context(transform_output="pandas"):
            self.assertIsInstance(FedKMeans(2).fit_transform(frames["a"]), pandas.DataFrame)

    def test_a_clone_has_the_parameters_and_nothing_fitted(self):
        from sklearn.base import clone

        model = FedKMeans(2, alpha=0.5, graph="ring").fit(np.random.default_rng(0).normal(size=(30, 2)))
        again = clone(model)
        self.assertEqual(again.get_params(), model.get_params())
        self.assertFalse(hasattr(again, "labels_"))

    def test_a_pipeline_scales_and_clusters(self):
        from sklearn.cluster import KMeans
        from sklearn.metrics import adjusted_rand_score
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        random = np.random.default_rng(0)
        groups = np.repeat([0, 1, 2], 50)
        rows = random.normal(size=(150, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[groups]
        rows *= [1, 1000]
        labels = make_pipeline(StandardScaler(), FedKMeans(3)).fit_predict(rows)
        self.assertEqual(adjusted_rand_score(groups, labels), 1)
        peer = make_pipeline(StandardScaler(), KMeans(3, n_init=10, random_state=0)).fit_predict(rows)
        self.assertEqual(adjusted_rand_score(peer, labels), 1)

    def test_parameters_can_be_searched(self):
        from sklearn.model_selection import GridSearchCV

        rows = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
        search = GridSearchCV(FedKMeans(), {"n_clusters": [1, 2]}, cv=2).fit(rows)
        self.assertEqual(search.best_params_, {"n_clusters": 2})


if __name__ == "__main__":
    unittest.main()
