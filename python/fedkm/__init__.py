"""Federated k-means over networks: devices agree on clusters by talking to their neighbours, without a server."""

from .analysis import audit, choose_k, compare
from .command import CommandError
from .device import Device
from .estimator import FedKMeans
from .preprocessing import FederatedOneHotEncoder, FederatedStandardScaler

__all__ = [
    "CommandError",
    "Device",
    "FedKMeans",
    "FederatedOneHotEncoder",
    "FederatedStandardScaler",
    "audit",
    "choose_k",
    "compare",
]
__version__ = "0.1.0"
