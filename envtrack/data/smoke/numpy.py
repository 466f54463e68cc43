# mypy: ignore-errors
"""The smoke test: NumPy computes, solves, saves and loads. Ends with 0 if all is well."""

import io
import json
import os
import platform
import sys
import time
import traceback
from pathlib import Path

import numpy as np

SEED = 0
ENVIRONMENT = {"python": platform.python_version(), "numpy": np.__version__}


def operation():
    """A product of small matrices is the known one."""
    product = np.array([[1.0, 2.0], [3.0, 4.0]]) @ np.array([[5.0, 6.0], [7.0, 8.0]])
    assert product.tolist() == [[19.0, 22.0], [43.0, 50.0]], product


def solve():
    """A linear system gets its known answer."""
    generator = np.random.default_rng(SEED)
    matrix = generator.standard_normal((64, 64)) + 64 * np.eye(64)
    wanted = np.arange(64, dtype=np.float64)
    error = float(np.abs(np.linalg.solve(matrix, matrix @ wanted) - wanted).max())
    assert error < 1e-9, f"largest error {error:.1e}"


def checkpoint():
    """What is saved is what is loaded."""
    buffer = io.BytesIO()
    np.savez(buffer, weights=np.arange(10.0))
    buffer.seek(0)
    assert np.load(buffer)["weights"].tolist() == list(range(10))


def fixed_seed():
    """A seeded computation gives the recorded value."""
    generator = np.random.default_rng(SEED)
    expect("fixed-seed", float(np.tanh(generator.standard_normal(1000)).sum()), 1e-9)


CHECKS = (operation, solve, checkpoint, fixed_seed)
