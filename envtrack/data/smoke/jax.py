# ruff: noqa: INP001, T201
# mypy: ignore-errors
"""The smoke test: a compiled gradient descent finds a known line. 0 if all is well.

It imports, finds the devices, compiles and differentiates: the places where a new driver, CUDA,
jaxlib or plugin breaks first.
"""

import sys

import jax
import jax.numpy as jnp

STEPS = 200
RATE = 0.3
TOLERANCE = 1e-3
# Set this to True where a run without a GPU or TPU must count as bad.
NEEDS_ACCELERATOR = False


def loss(weights: jax.Array, inputs: jax.Array, targets: jax.Array) -> jax.Array:
    """The mean squared error of a line."""
    return jnp.mean((weights[0] * inputs + weights[1] - targets) ** 2)


@jax.jit
def step(weights: jax.Array, inputs: jax.Array, targets: jax.Array) -> jax.Array:
    """The weights after one step downhill."""
    return weights - RATE * jax.grad(loss)(weights, inputs, targets)


def main() -> int:
    """0 if it finds the line, 1 if not."""
    platform = jax.devices()[0].platform
    print(f"jax {jax.__version__} on {platform}")
    if NEEDS_ACCELERATOR and platform == "cpu":
        return 1
    inputs = jnp.linspace(-1, 1, 128)
    targets = 3 * inputs + 0.5
    weights = jnp.zeros(2)
    for _ in range(STEPS):
        weights = step(weights, inputs, targets)
    error = float(jnp.abs(weights - jnp.array([3.0, 0.5])).max())
    print(f"largest error {error:.1e}")
    return 0 if error < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
