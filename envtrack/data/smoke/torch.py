# ruff: noqa: INP001, T201
# mypy: ignore-errors
"""The smoke test: a tiny network learns a known line, on the GPU if there is one. 0 if all is well.

It imports, allocates, runs a matrix product forwards and backwards, steps an optimiser, saves and
loads: the places where a new driver, CUDA or torch breaks first.
"""

import io
import sys

import torch

SEED = 0
STEPS = 200
WANTED_LOSS = 1e-2
# Set this to True where a run without a GPU must count as bad.
NEEDS_GPU = False


def main() -> int:
    """0 if it learns, 1 if not."""
    has_gpu = torch.cuda.is_available()
    print(f"torch {torch.__version__}, CUDA {torch.version.cuda}, GPU {has_gpu}")
    if NEEDS_GPU and not has_gpu:
        return 1
    loss = train(torch.device("cuda" if has_gpu else "cpu"))
    print(f"loss {loss:.2e}")
    return 0 if loss < WANTED_LOSS else 1


def train(device: torch.device) -> float:
    """The loss at the end."""
    torch.manual_seed(SEED)
    inputs = torch.linspace(-1, 1, 128, device=device).unsqueeze(1)
    targets = 3 * inputs + 0.5
    model = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)).to(
        device
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
    reload(model)
    return float(torch.nn.functional.mse_loss(model(inputs), targets))


def reload(model: torch.nn.Module) -> None:
    """Writes the weights and reads them back."""
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    model.load_state_dict(torch.load(buffer, weights_only=True))


if __name__ == "__main__":
    sys.exit(main())
