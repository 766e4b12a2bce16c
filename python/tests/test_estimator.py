"""FedKMeans as its users call it: tables by device, graphs, further rows, refusals, and a command that dies."""

import os
import pickle
import signal
import threading
import unittest

import numpy as np

import fedkm.command
from fedkm import CommandError, FedKMeans


def clinics(count=4, rows=50, seed=0):
    """Devices with the same two groups of rows around (0, 0) and (5, 5)."""
    random = np.random.default_rng(seed)
    middles = np.repeat([[0.0, 0.0], [5.0, 5.0]], rows // 2, axis=0)
    return [random.normal(size=(rows, 2)) + middles for _ in range(count)]


class Fitting(unittest.TestCase):
    def test_fit_finds_the_groups_of_all_devices(self):
        model = FedKMeans(2, graph="ring").fit(clinics())
        self.assertTrue(model.converged_)
        self.assertEqual(model.device_centers_.shape, (4, 2, 2))
        np.testing.assert_allclose(sorted(model.cluster_centers_[:, 0]), [0, 5], atol=0.3)
        self.assertEqual([len(labels) for labels in model.labels_], [50] * 4)
        np.testing.assert_array_equal(model.device_sizes_.sum(axis=1), [50] * 4)

    def test_without_a_number_the_clusters_are_counted(self):
        counted = FedKMeans().fit(clinics())
        np.testing.assert_array_equal(counted.device_centers_, FedKMeans(2).fit(clinics()).device_centers_)
        in_pieces = FedKMeans().partial_fit(clinics())
        np.testing.assert_array_equal(in_pieces.device_centers_, FedKMeans(2).partial_fit(clinics()).device_centers_)
        self.assertEqual(in_pieces.partial_fit(clinics()).device_centers_.shape, (4, 2, 2))

    def test_fit_by_dict_names_the_devices(self):
        tables = dict(zip("abcd", clinics()))
        model = FedKMeans(2).fit(tables)
        self.assertEqual(model.devices_, ["a", "b", "c", "d"])
        np.testing.assert_array_equal(model.predict({"b": tables["b"]})[0], model.labels_[1])

    def test_fit_of_one_table_is_one_device_and_labels_come_in_its_order(self):
        (table,) = clinics(1)
        model = FedKMeans(2).fit(table)
        np.testing.assert_array_equal(model.labels_, model.predict(table))
        np.testing.assert_array_equal(model.cluster_centers_, model.device_centers_[0])

    def test_every_method_of_the_library_can_be_asked_for(self):
        for method in ["fedkm", "consensus", "local", "pooled", "distributed", "gradient", "kfed", "fkm", "coreset"]:
            model = FedKMeans(2, method=method).fit(clinics())
            self.assertTrue(np.isfinite(model.objective_), method)

    def test_options_reach_the_library(self):
        tables = clinics()
        self.assertEqual(FedKMeans(2, rounds=3, tol=0).fit(tables).n_iter_, 3)
        alone, together = FedKMeans(2, alpha=0).fit(tables), FedKMeans(2, alpha=1e3).fit(tables)
        spread = [np.ptp(model.device_centers_, axis=0).max() for model in (alone, together)]
        self.assertGreater(spread[0], 50 * spread[1])

    def test_the_seed_may_be_drawn_from_a_random_state(self):
        tables = clinics()
        seed = np.random.RandomState(7).randint(2**31 - 1)
        drawn = FedKMeans(2, random_state=np.random.RandomState(7)).fit(tables)
        expected = FedKMeans(2, random_state=seed).fit(tables)
        np.testing.assert_array_equal(drawn.device_centers_, expected.device_centers_)

    def test_predict_and_transform_take_the_device_s_own_centroids(self):
        tables = clinics()
        model = FedKMeans(2, alpha=0).fit(tables)
        for i, table in enumerate(tables):
            np.testing.assert_array_equal(model.predict(table, device=i), model.labels_[i])
            distances = model.transform(table, device=i)
            np.testing.assert_array_equal(distances.argmin(axis=1), model.labels_[i])
        np.testing.assert_array_equal(model.predict(tables)[2], model.labels_[2])
        by_hand = -sum((model.transform(t, device=i).min(axis=1) ** 2).sum() for i, t in enumerate(tables))
        self.assertAlmostEqual(model.score(tables), by_hand, places=9)
        self.assertAlmostEqual(model.inertia_, -by_hand, places=9)

    def test_a_model_can_be_pickled(self):
        tables = clinics()
        model = FedKMeans(2).fit(tables)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(tables[0]), model.predict(tables[0]))


class Graphs(unittest.TestCase):
    def test_a_matrix_of_weights_is_a_graph(self):
        ring = np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1)
        by_matrix, by_rule = (FedKMeans(2, graph=graph).fit(clinics()) for graph in (ring, "ring"))
        np.testing.assert_array_equal(by_matrix.device_centers_, by_rule.device_centers_)

    def test_a_networkx_graph_has_the_places_as_nodes(self):
        networkx = imported("networkx")
        tables = dict(zip("abcd", clinics()))
        graph = networkx.path_graph(["a", "b", "c", "d"])
        by_graph, by_rule = (FedKMeans(2, graph=given).fit(tables) for given in (graph, "path"))
        np.testing.assert_array_equal(by_graph.device_centers_, by_rule.device_centers_)
        graph.add_edge("d", "elsewhere")
        with self.assertRaisesRegex(ValueError, "got 'elsewhere'"):
            FedKMeans(2, graph=graph).fit(tables)


class Frames(unittest.TestCase):
    def test_a_pandas_frame_is_split_by_its_device_column(self):
        pandas = imported("pandas")
        tables = clinics()
        frame = pandas.DataFrame(np.vstack(tables), columns=["x", "y"])
        frame["clinic"] = np.repeat(["n", "s", "w", "e"], 50)
        frame = frame.sample(frac=1, random_state=0)
        model = FedKMeans(2, device_column="clinic").fit(frame)
        self.assertEqual(model.devices_, ["e", "n", "s", "w"])
        self.assertEqual(list(model.feature_names_in_), ["x", "y"])
        self.assertEqual(model.labels_.shape, (200,))
        np.testing.assert_array_equal(model.predict(frame), model.labels_)
        np.testing.assert_array_equal(
            model.predict(frame[frame.clinic == "w"]), model.labels_[(frame.clinic == "w").to_numpy()]
        )
        frame.loc[frame.index[0], "clinic"] = None
        with self.assertRaisesRegex(ValueError, "must name a device in every row"):
            FedKMeans(2, device_column="clinic").fit(frame)

    def test_columns_of_devices_are_taken_by_name_in_whatever_order_they_come(self):
        pandas = imported("pandas")
        tables = [table * [1, 10] for table in clinics()]
        frames = [pandas.DataFrame(table, columns=["a", "b"]) for table in tables]
        turned = [frames[0], frames[1][["b", "a"]], *frames[2:]]
        expected, model = FedKMeans(2).fit(tables), FedKMeans(2).fit(turned)
        np.testing.assert_array_equal(model.device_centers_, expected.device_centers_)
        self.assertEqual(list(model.feature_names_in_), ["a", "b"])
        np.testing.assert_array_equal(model.predict(turned), expected.labels_)
        np.testing.assert_array_equal(model.predict(turned[1], device=1), expected.labels_[1])
        whole = pandas.concat(frames).assign(clinic=np.repeat(range(4), 50))
        model = FedKMeans(2, device_column="clinic").fit(whole)
        np.testing.assert_array_equal(model.predict(whole[["b", "clinic", "a"]]), model.labels_)

    def test_one_table_with_columns_of_other_names_or_another_order_is_refused(self):
        pandas = imported("pandas")
        frame = pandas.DataFrame(clinics(1)[0], columns=["a", "b"])
        model = FedKMeans(2).fit(frame)
        for other, sentence in [
            (frame[["b", "a"]], "must be in the same order as they were in fit"),
            (frame.rename(columns={"b": "c"}), "unseen at fit time:\n- c\n.*, yet now missing:\n- b"),
        ]:
            for method in (model.predict, model.transform, model.score):
                with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence):
                    method(other)

    def test_centroids_to_start_at_and_frames_of_other_libraries_are_taken_by_name_too(self):
        pandas = imported("pandas")
        frames = [pandas.DataFrame(table, columns=["a", "b"]) for table in clinics()]
        expected = FedKMeans(2).fit(frames)
        start = frames[0].iloc[[0, 40]]
        at = [FedKMeans(2, init=own).fit(frames).device_centers_ for own in (start, start[["b", "a"]], [start] * 4)]
        np.testing.assert_array_equal(at[0], at[1])
        np.testing.assert_array_equal(at[0], at[2])
        other = [OtherFrame(frames[0]), *(OtherFrame(frame[["b", "a"]]) for frame in frames[1:])]
        np.testing.assert_array_equal(FedKMeans(2).fit(other).device_centers_, expected.device_centers_)
        with self.assertRaisesRegex(ValueError, "must be in the same order as they were in fit"):
            expected.predict(other[1])
        whole = pandas.concat(frames).assign(clinic=np.repeat(range(4), 50))
        found = FedKMeans(2, device_column="clinic").fit(OtherFrame(whole))
        np.testing.assert_array_equal(found.device_centers_, expected.device_centers_)
        with self.assertRaisesRegex(TypeError, "got a missing cell at row 1, column 0"):
            FedKMeans(1).fit(pandas.DataFrame({"a": pandas.array([1, None], dtype="Int64")}))
        with self.assertRaisesRegex(ValueError, r"X\[0\] must be a table or a row of numbers, got Series"):
            FedKMeans(1).fit([frames[0]["a"], frames[0]["b"]])

    def test_devices_with_other_columns_are_refused_and_those_without_names_get_a_warning(self):
        pandas = imported("pandas")
        frames = [pandas.DataFrame(table, columns=["a", "b"]) for table in clinics()]
        for other, sentence in [
            (frames[1].rename(columns={"b": "c"}), r"X\[1\] must have the columns 'a', 'b', got no 'b' but also 'c'"),
            (frames[1][["a"]], r"X\[1\] must have the columns 'a', 'b', got no 'b'$"),
            (frames[1][["b", "a", "a"]], r"X\[1\] must have columns of different names, got 'b', 'a', 'a'"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence):
                FedKMeans(2).fit([frames[0], other])
        with self.assertRaisesRegex(ValueError, "device_column is for one table, got 'b' and 4 tables"):
            FedKMeans(2, device_column="b").fit(frames)
        with self.assertWarnsRegex(UserWarning, r"X\[0\] does not have valid feature names: .* as 'a', 'b'"):
            model = FedKMeans(2).fit([frames[0].to_numpy(), *frames[1:]])
        with self.assertWarnsRegex(UserWarning, "X does not have valid feature names"):
            model.predict(frames[0].to_numpy())
        with self.assertWarnsRegex(UserWarning, "X has feature names, but FedKMeans was fitted without feature names"):
            FedKMeans(2).fit(clinics()).predict(frames[0])

    def test_an_array_is_split_by_the_number_of_its_device_column(self):
        tables = clinics()
        table = np.column_stack([np.repeat(range(4), 50), np.vstack(tables)])
        model = FedKMeans(2, device_column=0).fit(table)
        np.testing.assert_array_equal(model.device_centers_, FedKMeans(2).fit(tables).device_centers_)
        np.testing.assert_array_equal(model.predict(table), model.labels_)


class Refusals(unittest.TestCase):
    def test_what_the_library_refuses_is_a_value_error_with_its_sentence(self):
        for params, sentence in [
            ({"alpha": -1}, "alpha must be a finite number of at least 0, got -1"),
            ({"n_clusters": 0}, "n_clusters must be an integer of at least 1, got 0"),
            ({"n_clusters": [3, 2, 3, 3]}, "n_clusters must be an integer of at least 1, got [3, 2, 3, 3]"),
            ({"n_clusters": None, "init": [[0, 0], [6, 6]]}, "n_clusters must be a number with centroids to start at, got None"),
            ({"n_clusters": True}, "n_clusters must be an integer of at least 1, got True"),
            ({"random_state": 2**60}, "random_state must be an integer below 2**53, or draw some, got 1152921504606846976"),
            ({"random_state": "x"}, "random_state must be an integer below 2**53, or draw some, got 'x'"),
            ({"method": None}, "method must be a text, got None"),
            ({"min_rows": 0}, "min_rows must be an integer of at least 1, got 0"),
            ({"init": [1, 2]}, "init must be a text or an array of centroids, got [1, 2]"),
            ({"init": [[0, 0], [6]]}, "init must have 2 numbers in every row (as the first), got another number in row 1"),
            ({"graph": None}, "graph must be a rule, a networkx graph or a symmetric matrix of 4 x 4 weights, got None"),
            ({"alpha": np.ones(2)}, "alpha must be a number or a text, got array([1., 1.])"),
            ({"alpha": float("nan")}, "alpha must be finite, got nan"),
            ({"init": [[0, 0], [5, 5], [9, 9]]}, "init must have the shape (2, 2) or (4, 2, 2), got (3, 2)"),
            ({"init": [[0, 0], [5, 5]], "method": "consensus"}, "must be used with method fedkm, got method consensus"),
            ({"epsilon": 1}, "epsilon must be used with privacy private, got privacy open"),
            ({"method": "kmedoids"}, "method must be one of fedkm, consensus"),
            ({"graph": "tree"}, 'graph must be complete, ring, path, star, er:P, knn:K, alike:RULE or a list of links, got "tree"'),
            ({"graph": "er:2"}, "graph er:P must have a probability P from 0 to 1"),
            ({"n_clusters": 999}, "n_clusters must be at most 200"),
            ({"graph": np.ones((3, 3))}, "a symmetric matrix of 4 x 4"),
            ({"graph": np.triu(np.ones((4, 4)), 1)}, "a symmetric matrix of 4 x 4"),
            ({"graph": np.ones((4, 4)) + np.eye(4, k=1) * 1e-9}, "a symmetric matrix of 4 x 4"),
        ]:
            with self.subTest(params), self.assertRaises(ValueError) as refused:
                FedKMeans(**{"n_clusters": 2, **params}).fit(clinics())
            self.assertIn(sentence, str(refused.exception))

    def test_tables_that_are_none_are_refused_before_anything_is_asked(self):
        good = clinics()
        for tables, sentence in [
            ([good[0], np.empty((0, 2))], r"X\[1\] must have rows"),
            ([good[0], good[1][:, :1]], "device 1 must have 2 columns, got 1"),
            ([good[0], np.where(good[1] > 5, np.nan, good[1])], r"X\[1\] must hold finite numbers, got NaN at row"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence):
                FedKMeans(2).fit(tables)
        for data, sentence in [
            (None, "a table, or a list or dict of tables, got NoneType"),
            ("rows.csv", "a table, or a list or dict of tables, got str"),
            (["a.csv", "b.csv"], r"X\[0\] must be a table or a row of numbers, got str"),
            ([], "X must have rows or tables, got an empty list"),
            ({}, "X must have tables, got an empty dict"),
            ([[1, 2], [3]], r"X must have 2 numbers in every row \(as the first\), got another number in row 1"),
            ([good[0], [[1, 2], [3]]], r"X\[1\] must have 2 numbers in every row"),
            (np.array([["2020-01-01"]], dtype="M8[D]"), "X must hold numbers, got dates or times"),
            (np.ma.masked_greater(good[0], 5), "X must hold finite numbers, got NaN at row"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex((ValueError, TypeError), sentence):
                FedKMeans(2).fit(data)
        with self.assertRaisesRegex(ValueError, "device must be one of"):
            FedKMeans(2).fit(good).predict(good[0], device=9)
        with self.assertRaisesRegex(ValueError, "not fitted"):
            FedKMeans(2).predict(good[0])


class TheCommand(unittest.TestCase):
    def test_a_command_that_is_not_there_is_named_with_what_to_do(self):
        with environment(FEDKM_COMMAND="", PATH=""), self.assertRaisesRegex(CommandError, "install the package with pip, which brings it"):
            FedKMeans(2).fit(clinics())

    def test_a_command_that_dies_is_started_again_at_the_next_call(self):
        tables = clinics()
        first = FedKMeans(2).fit(tables)
        fedkm.command._process.kill()
        fedkm.command._process.wait()
        np.testing.assert_array_equal(FedKMeans(2).fit(tables).device_centers_, first.device_centers_)

    def test_an_interruption_ends_the_work_and_leaves_no_answer_behind(self):
        big = [table for _ in range(6) for table in clinics(rows=20_000)]
        with self.assertRaises(KeyboardInterrupt):
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            for seed in range(1000):
                FedKMeans(20, random_state=seed).fit(big)
        self.assertEqual(len(FedKMeans(2).fit(clinics()).labels_), 4)

    def test_threads_take_turns(self):
        tables = [clinics(seed=seed) for seed in range(6)]
        found = [None] * 6

        def work(i):
            found[i] = FedKMeans(2).fit(tables[i]).device_centers_

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i in range(6):
            np.testing.assert_array_equal(found[i], FedKMeans(2).fit(tables[i]).device_centers_)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork on this system")
    def test_a_process_forked_while_a_thread_fits_has_a_command_of_its_own(self):
        tables = clinics()
        expected = FedKMeans(2).fit(tables).device_centers_
        found, forked = [], threading.Event()

        def work():
            # Large tables, so that the lock is held nearly all the time, also halfway through writing them.
            big = clinics(rows=20_000)
            while not forked.is_set():
                found.append(FedKMeans(2).fit(big).device_centers_)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(int(os.environ.get("FEDKM_FORKS", "8"))):
                child = os.fork()
                if child == 0:
                    signal.alarm(60)
                    same = np.array_equal(FedKMeans(2).fit(tables).device_centers_, expected)
                    fedkm.command._stop()
                    os._exit(0 if same else 1)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
        finally:
            forked.set()
            thread.join()
        self.assertTrue(all(np.array_equal(found[0], other) for other in found))
        np.testing.assert_array_equal(FedKMeans(2).fit(tables).device_centers_, expected)


class OtherFrame:
    """A frame with what those of polars and Arrow have in common."""

    def __init__(self, frame):
        self._frame = frame
        self.shape = frame.shape

    def __dataframe__(self):
        return self._frame.__dataframe__()

    def __array__(self, dtype=None):
        return self._frame.to_numpy(dtype)

    def __getitem__(self, column):
        found = self._frame[column]
        return OtherFrame(found) if isinstance(column, list) else found.to_numpy()


class environment:
    """Other variables, and no running command, for the length of a block."""

    def __init__(self, **variables):
        self._variables = variables

    def __enter__(self):
        fedkm.command._stop()
        self._before = {name: os.environ.get(name) for name in self._variables}
        os.environ.update(self._variables)

    def __exit__(self, *_):
        for name, value in self._before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def imported(name):
    try:
        return __import__(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed") from None


if __name__ == "__main__":
    unittest.main()
