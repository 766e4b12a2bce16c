# %% [markdown]
# # Four clinics that may not pool their rows
# Each clinic measured the same three kinds of patients, but none has many of all three. Alone, a clinic finds clusters
# that are not there; with its neighbours it finds the common ones, and only centroids travel.

# %%
import numpy as np

from fedkm import FedKMeans

random = np.random.default_rng(7)
kinds = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.5]])
shares = [[45, 3, 2], [2, 45, 3], [3, 2, 45], [17, 17, 16]]
truth = [np.repeat([0, 1, 2], counts) for counts in shares]
clinics = [random.normal(size=(50, 2)) * 0.7 + kinds[groups] for groups in truth]

# %% [markdown]
# ## Alone and together
# `alpha` is the dial: 0 leaves every clinic alone.

# %%
for alpha in [0.0, 1.0]:
    model = FedKMeans(3, alpha=alpha, graph="ring").fit(clinics)
    nearest = [np.linalg.norm(model.device_centers_ - kind, axis=2).min(axis=1) for kind in kinds]
    print(f"alpha {alpha:g}: centroids are off by {np.max(nearest):.2f} at most, {np.mean(nearest):.2f} on average")

# %% [markdown]
# ## What was found
# Cluster 0 has the most rows. Numbers mean the same in every clinic.

# %%
print(np.round(model.cluster_centers_, 1))
print(model.device_sizes_)
print(f"{model.n_iter_} rounds, {model.n_messages_} messages, {model.n_bytes_} bytes")

# %% [markdown]
# ## A new patient of the third clinic

# %%
patient = np.array([[1.8, 3.0]])
print(model.predict(patient, device=2), np.round(model.transform(patient, device=2), 1))
