"""Federated k-means over networks: devices agree on clusters by talking to their neighbours, without a server."""

from .command import CommandError
from .estimator import FedKMeans

__all__ = ["CommandError", "FedKMeans"]
__version__ = "0.1.0"
