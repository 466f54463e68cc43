# mypy: ignore-errors
"""The smoke test: torch from end to end, on the GPU if there is one. Ends with 0 if all is well.

It imports, allocates, multiplies, differentiates, trains, saves and loads: the places where a new
driver, CUDA or torch breaks first. Each check has a name, and can be run and hunted alone.
"""

import io
import json
import os
import platform
import sys
import time
import traceback
from pathlib import Path

import torch

SEED = 0
STEPS = 200
# Set this to True where a run without a GPU must count as bad.
NEEDS_GPU = False
HAS_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if HAS_GPU else "cpu")
ENVIRONMENT = {
    "python": platform.python_version(),
    "torch": torch.__version__,
    "cuda": str(torch.version.cuda),
    "device": torch.cuda.get_device_name() if HAS_GPU else "cpu",
}


def gpu():
    """There is a GPU, where there has to be one."""
    if not HAS_GPU:
        assert not NEEDS_GPU, "torch sees no GPU"
        return SKIPPED
    assert float(torch.ones(8, device=DEVICE).sum()) == 8.0


def operation():
    """A product of small matrices is the known one."""
    left = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=DEVICE)
    right = torch.tensor([[5.0, 6.0], [7.0, 8.0]], device=DEVICE)
    assert (left @ right).tolist() == [[19.0, 22.0], [43.0, 50.0]], left @ right


def backward():
    """The gradient of a cube is three times the square."""
    point = torch.tensor([2.0, -1.0], device=DEVICE, requires_grad=True)
    (point**3).sum().backward()
    assert point.grad.tolist() == [12.0, 3.0], point.grad


def make_model():
    torch.manual_seed(SEED)
    return torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)).to(
        DEVICE
    )


def make_points():
    inputs = torch.linspace(-1, 1, 128, device=DEVICE).unsqueeze(1)
    return inputs, 3 * inputs + 0.5


def training():
    """A tiny network learns a known line."""
    model, (inputs, targets) = make_model(), make_points()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 1e-2, f"loss {float(loss.detach()):.2e}"


def checkpoint():
    """What is saved is what is loaded, and computes the same."""
    model, (inputs, _) = make_model(), make_points()
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    before = model(inputs)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    buffer.seek(0)
    model.load_state_dict(torch.load(buffer, weights_only=True))
    assert torch.equal(model(inputs), before)


def fixed_seed():
    """A seeded computation gives the recorded value."""
    model, (inputs, _) = make_model(), make_points()
    expect("fixed-seed", float(torch.nn.functional.gelu(model(inputs)).sum().detach()), 1e-3)


CHECKS = (gpu, operation, backward, training, checkpoint, fixed_seed)
