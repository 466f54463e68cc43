# mypy: ignore-errors
"""The smoke test: JAX from end to end, on the accelerator if there is one. 0 if all is well.

It imports, finds the devices, compiles and differentiates: the places where a new driver, CUDA,
jaxlib or plugin breaks first. Each check has a name, and can be run and hunted alone.
"""

import io
import json
import os
import platform
import sys
import time
import traceback
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

SEED = 0
STEPS = 200
RATE = 0.3
# Set this to True where a run without a GPU or TPU must count as bad.
NEEDS_ACCELERATOR = False
PLATFORM = jax.devices()[0].platform
ENVIRONMENT = {
    "python": platform.python_version(),
    "jax": jax.__version__,
    "device": jax.devices()[0].device_kind,
}


def accelerator():
    """There is an accelerator, where there has to be one."""
    if PLATFORM == "cpu":
        assert not NEEDS_ACCELERATOR, "JAX sees no accelerator"
        return SKIPPED


def operation():
    """A product of small matrices is the known one."""
    product = jnp.array([[1.0, 2.0], [3.0, 4.0]]) @ jnp.array([[5.0, 6.0], [7.0, 8.0]])
    assert product.tolist() == [[19.0, 22.0], [43.0, 50.0]], product


def backward():
    """The gradient of a cube is three times the square."""
    found = jax.grad(lambda point: (point**3).sum())(jnp.array([2.0, -1.0]))
    assert found.tolist() == [12.0, 3.0], found


def loss(weights, inputs, targets):
    return jnp.mean((weights[0] * inputs + weights[1] - targets) ** 2)


@jax.jit
def step(weights, inputs, targets):
    return weights - RATE * jax.grad(loss)(weights, inputs, targets)


def training():
    """A compiled gradient descent finds a known line."""
    inputs = jnp.linspace(-1, 1, 128)
    weights = jnp.zeros(2)
    for _ in range(STEPS):
        weights = step(weights, inputs, 3 * inputs + 0.5)
    error = float(jnp.abs(weights - jnp.array([3.0, 0.5])).max())
    assert error < 1e-3, f"largest error {error:.1e}"


def checkpoint():
    """What is saved is what is loaded."""
    buffer = io.BytesIO()
    np.savez(buffer, weights=np.asarray(jnp.arange(10.0)))
    buffer.seek(0)
    assert jnp.asarray(np.load(buffer)["weights"]).tolist() == list(range(10))


def fixed_seed():
    """A seeded computation gives the recorded value."""
    expect(
        "fixed-seed", float(jnp.tanh(jax.random.normal(jax.random.key(SEED), (64,))).sum()), 1e-4
    )


CHECKS = (accelerator, operation, backward, training, checkpoint, fixed_seed)
