# ruff: noqa: INP001, T201
# mypy: ignore-errors
"""The smoke test: NumPy solves a small system and gets the known answer. 0 if all is well."""

import sys

import numpy as np

SEED = 0
SIZE = 64
TOLERANCE = 1e-9


def main() -> int:
    """0 if the answer is the known one, 1 if not."""
    generator = np.random.default_rng(SEED)
    matrix = generator.standard_normal((SIZE, SIZE)) + SIZE * np.eye(SIZE)
    expected = np.arange(SIZE, dtype=np.float64)
    found = np.linalg.solve(matrix, matrix @ expected)
    error = float(np.abs(found - expected).max())
    print(f"numpy {np.__version__}: largest error {error:.1e}")
    return 0 if error < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
