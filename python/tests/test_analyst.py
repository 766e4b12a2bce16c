"""What an analyst asks beyond fit: weights, batches, starts, measures, the one model, scales, categories, choices."""

import json
import pathlib
import tempfile
import unittest

import numpy as np

from fedkm import FederatedOneHotEncoder, FederatedStandardScaler, FedKMeans, audit, choose_k, compare
from fedkm.command import run_command

from .test_estimator import clinics, imported


class Weights(unittest.TestCase):
    def test_whole_weights_are_repeated_rows_to_the_bit(self):
        random = np.random.default_rng(1)
        tables = clinics()
        weights = [random.integers(0, 4, len(table)) for table in tables]
        weighted = FedKMeans(2, graph="ring").fit(tables, sample_weight=weights)
        repeated = FedKMeans(2, graph="ring").fit([np.repeat(t, w, axis=0) for t, w in zip(tables, weights)])
        np.testing.assert_array_equal(weighted.device_centers_, repeated.device_centers_)
        self.assertAlmostEqual(weighted.inertia_, repeated.inertia_, places=9)
        self.assertEqual([len(labels) for labels in weighted.labels_], [50] * 4)

    def test_weights_of_one_table_follow_their_rows_to_the_devices(self):
        tables = clinics()
        table = np.column_stack([np.repeat(range(4), 50), np.vstack(tables)])
        weights = np.arange(200) % 3 + 1
        whole = FedKMeans(2, device_column=0).fit(table, sample_weight=weights)
        listed = FedKMeans(2).fit(tables, sample_weight=np.split(weights, 4))
        np.testing.assert_array_equal(whole.device_centers_, listed.device_centers_)

    def test_weights_that_cannot_be_meant_are_refused(self):
        tables = clinics()
        for weights, sentence in [
            ([np.ones(50)], "one array for each of 4 devices"),
            ([np.ones(50)] * 3 + [np.ones(49)], r"sample_weight.shape == \(49,\), expected \(50,\)"),
            ([np.ones(50)] * 3 + [-np.ones(50)], "finite numbers of at least 0"),
            ([np.ones(50)] * 3 + [np.zeros(50)], r"weights\[3\] must not all be 0"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(ValueError, sentence):
                FedKMeans(2).fit(tables, sample_weight=weights)
        with self.assertRaisesRegex(ValueError, "weights must not be used with minimum or privacy"):
            FedKMeans(2, privacy="guarded").fit(tables, sample_weight=[np.ones(50)] * 4)


class Batches(unittest.TestCase):
    def test_rows_in_pieces_give_what_all_rows_give_and_clusters_keep_their_numbers(self):
        tables = clinics(rows=3000)
        whole = FedKMeans(2, graph="ring").fit(tables)
        stream = FedKMeans(2, graph="ring")
        before = None
        for piece in range(4):
            stream.partial_fit([table[piece::4] for table in tables])
            if before is not None:
                self.assertLess(np.abs(stream.device_centers_ - before).max(), 0.5)
            before = stream.device_centers_
        self.assertEqual([len(labels) for labels in stream.labels_], [750] * 4)
        self.assertLess(abs(stream.score(tables) / whole.score(tables) - 1), 0.01)
        self.assertLess(abs(stream.inertia_ / whole.inertia_ - 1), 0.01)
        self.assertEqual(stream.device_sizes_.sum(), 12_000)
        with self.assertRaisesRegex(ValueError, r"of the devices \[0, 1, 2, 3\] \(as before\), got \[0\]"):
            stream.partial_fit(tables[:1])
        with self.assertRaisesRegex(ValueError, r"n_clusters must be 2 \(as before\), got 3"):
            stream.set_params(n_clusters=3).partial_fit(tables)
        with self.assertRaisesRegex(ValueError, "save must be called after fit"):
            stream.save("never.json")


class OneModel(unittest.TestCase):
    def test_a_saved_model_is_the_command_s_and_labels_rows_alike(self):
        tables = dict(zip("abcd", clinics()))
        model = FedKMeans(2, alpha=0.5, graph=np.ones((4, 4)) - np.eye(4)).fit(tables)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            model.save(folder / "model.json")
            again = FedKMeans.load(folder / "model.json")
            np.testing.assert_array_equal(again.device_centers_, model.device_centers_)
            np.testing.assert_array_equal(again.cluster_centers_, model.cluster_centers_)
            np.testing.assert_array_equal(again.predict(tables)[2], model.labels_[2])
            self.assertEqual((again.alpha, again.devices_, again.history_), (0.5, list("abcd"), model.history_))
            rows = "\n".join(",".join(map(repr, row)) for row in tables["b"].tolist())
            (folder / "b.csv").write_text(f"x1,x2\n{rows}\n")
            run_command("predict", folder / "b.csv", model=folder / "model.json", out=folder / "labels.csv")
            lines = (folder / "labels.csv").read_text().splitlines()[1:]
            self.assertEqual([int(line.split(",")[2]) for line in lines], model.labels_[1].tolist())
            for text, sentence in [
                ("{}", "must be a model of fedkm, got another file"),
                ("[1", "must be a model of fedkm, got another file"),
                ('{"format": "fedkm-model"}', "must be a whole model of fedkm, got one without columns, options"),
            ]:
                (folder / "other.json").write_text(text)
                with self.assertRaisesRegex(ValueError, sentence):
                    FedKMeans.load(folder / "other.json")

    def test_a_model_of_the_command_is_loaded_with_its_scale(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            tables = [table * [1, 1000] for table in clinics(2)]
            for i, table in enumerate(tables):
                rows = "\n".join(",".join(map(repr, row)) for row in table.tolist())
                (folder / f"t{i}.csv").write_text(f"a,b\n{rows}\n")
            files = [folder / "t0.csv", folder / "t1.csv"]
            run_command("fit", *files, k=2, scale="standard", as_is=True, out=folder / "results")
            model = FedKMeans.load(folder / "results" / "model.json")
            labels = (folder / "results" / "labels" / "t1.csv").read_text().splitlines()
            at = labels[0].split(",").index("cluster")
            found = model.nearest_clusters(tables[1], device=1)
            self.assertEqual([int(line.split(",")[at]) for line in labels[1:]], found.tolist())

    def test_measures_history_and_pages_say_how_it_went(self):
        tables = clinics()
        model = FedKMeans(2, graph="ring").fit(tables)
        self.assertEqual([one["round"] for one in model.history_], list(range(model.n_iter_ + 1)))
        self.assertEqual(model.history_[-1]["objective"], model.objective_)
        centers, last = model.device_centers_, model.measures_
        self.assertGreater(last["consensus_variation"], 0)
        self.assertEqual(last["total_variation"], model.history_[-1]["total_variation"])
        distances = np.sort(np.concatenate(model.transform(tables)), axis=1)
        expected = ((distances[:, 1] - distances[:, 0]) / distances[:, 1]).mean()
        self.assertAlmostEqual(model.silhouette(tables), expected, places=12)
        self.assertEqual(centers.shape, (4, 2, 2))
        page = model._repr_html_()
        self.assertEqual(page.count("<circle"), 4 * 3)
        self.assertIn("settled after", page)
        self.assertIn("not fitted", FedKMeans()._repr_html_())
        self.assertEqual(model.plot_history()._repr_svg_().count("<circle"), model.n_iter_ + 1)

    def test_centroids_may_be_given_to_start_at(self):
        tables = clinics()
        start = np.array([[5.0, 5.0], [0.0, 0.0]])
        one, each = (FedKMeans(2, init=init).fit(tables) for init in (start, np.stack([start] * 4)))
        np.testing.assert_array_equal(one.device_centers_, each.device_centers_)
        usual = FedKMeans(2).fit(tables)
        np.testing.assert_allclose(one.device_centers_, usual.device_centers_, atol=1e-6)
        stuck = FedKMeans(2, init=start + [[0, 0], [99, 99]], rounds=1).fit(tables)
        self.assertGreater(stuck.inertia_, 2 * usual.inertia_)

    def test_shared_and_private_clusters_can_be_asked_for(self):
        tables = clinics(rows=400)
        shared = FedKMeans(2, method="shared").fit(tables)
        self.assertEqual(np.ptp(shared.device_centers_, axis=0).max(), 0)
        private = FedKMeans(2, method="shared", privacy="private", epsilon=3).fit(tables)
        self.assertGreater(np.abs(private.cluster_centers_ - shared.cluster_centers_).max(), 0)
        np.testing.assert_allclose(private.cluster_centers_, shared.cluster_centers_, atol=1)


class ScalesAndCategories(unittest.TestCase):
    def test_the_scaler_is_that_of_the_pooled_rows_and_keeps_the_form(self):
        tables = [table * [1, 1000] + [7, 0] for table in clinics()]
        scaler = FederatedStandardScaler().fit(tables)
        pooled = np.vstack(tables)
        np.testing.assert_allclose(scaler.mean_, pooled.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(scaler.scale_, pooled.std(axis=0), rtol=1e-12)
        scaled = scaler.transform(tables)
        np.testing.assert_allclose(scaler.inverse_transform(scaled)[2], tables[2], rtol=1e-9)
        self.assertEqual(list(scaler.transform(dict(zip("abcd", tables)))), list("abcd"))
        table = np.column_stack([np.repeat(range(4), 50), pooled])
        whole = FederatedStandardScaler(device_column=0).fit_transform(table)
        np.testing.assert_array_equal(whole[:, 0], table[:, 0])
        np.testing.assert_allclose(whole[50:100, 1:], scaled[1], rtol=1e-12)

    def test_frames_stay_frames_and_columns_are_taken_by_name(self):
        pandas = imported("pandas")
        frames = [pandas.DataFrame(table, columns=["a", "b"]) for table in clinics()]
        scaler = FederatedStandardScaler().fit([frames[0], frames[1][["b", "a"]], *frames[2:]])
        found = scaler.transform(frames[1][["b", "a"]])
        self.assertEqual(list(found.columns), ["a", "b"])
        whole = pandas.concat(frames).assign(clinic=np.repeat(list("wxyz"), 50))
        scaled = FederatedStandardScaler(device_column="clinic").fit_transform(whole)
        self.assertEqual(list(scaled.columns), ["a", "b", "clinic"])
        np.testing.assert_allclose(scaled[["a", "b"]].to_numpy()[50:100], found.to_numpy(), rtol=1e-12)
        self.assertEqual(len(FedKMeans(2, device_column="clinic").fit_predict(scaled)), 200)

    def test_all_devices_get_the_same_columns_of_categories(self):
        pandas = imported("pandas")
        frames = {
            "n": pandas.DataFrame({"kind": ["oak", "elm"], "size": ["s", "m"]}),
            "s": pandas.DataFrame({"size": ["l"], "kind": ["elm"]}),
        }
        encoder = FederatedOneHotEncoder().fit(frames)
        framed = FederatedOneHotEncoder().set_output(transform="pandas").fit(frames).transform(frames)
        self.assertEqual(list(framed["n"].columns), encoder.get_feature_names_out().tolist())
        self.assertEqual(list(framed["n"].index), list(frames["n"].index))
        names = ["kind_elm", "kind_oak", "size_l", "size_m", "size_s"]
        self.assertEqual(list(encoder.get_feature_names_out()), names)
        found = encoder.transform(frames)
        self.assertEqual(found["s"].tolist(), [[1, 0, 1, 0, 0]])
        self.assertEqual(found["n"].tolist(), [[0, 1, 0, 0, 1], [1, 0, 0, 1, 0]])
        whole = pandas.concat(frames.values()).assign(place=["n", "n", "s"])
        by_column = FederatedOneHotEncoder(device_column="place").fit_transform(whole)
        np.testing.assert_array_equal(by_column, np.vstack(list(found.values())))
        with self.assertRaisesRegex(ValueError, "must have categories that a device had at fit, got 'ash'"):
            encoder.transform([pandas.DataFrame({"kind": ["ash"], "size": ["s"]})])
        with self.assertRaisesRegex(ValueError, "a category in every cell, got a missing one"):
            FederatedOneHotEncoder().fit([[["a"], [None]]])


class Choices(unittest.TestCase):
    def test_k_and_alpha_are_chosen_and_methods_compared_as_by_the_command(self):
        tables = dict(zip("abcd", clinics()))
        ring = np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1)
        by_rule, by_matrix = (choose_k(tables, graph=graph, k=4) for graph in ("ring", ring))
        self.assertEqual((by_rule["k"], by_rule["alpha"]), (2, by_matrix["alpha"]))
        self.assertEqual(by_rule["clusters"], by_matrix["clusters"])
        found = compare(tables, 2, graph="ring", method="fedkm,local", runs=2)
        self.assertEqual({one["method"] for one in found["standings"]}, {"fedkm", "local"})
        with self.assertRaisesRegex(ValueError, "^method must be some of fedkm"):
            compare(tables, 2, method="kmedoids")
        self.assertEqual(json.loads(json.dumps(found)), found)

    def test_an_audit_attacks_networks_with_the_rows_that_are_given(self):
        drawn = audit(privacy="open", runs=2)
        self.assertEqual((drawn["privacy"], drawn["source"]), ("open", "2 simulated networks with rows that were drawn, seed 1"))
        with tempfile.TemporaryDirectory() as name:
            study = pathlib.Path(name) / "study.yaml"
            run_command("study", "init", k=2, feature=["x1:-9:19", "x2:-9:19"], out=study)
            self.assertIn("with 4 files", audit(clinics(), study=study, runs=2)["source"])


if __name__ == "__main__":
    unittest.main()
