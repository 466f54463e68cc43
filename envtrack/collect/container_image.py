"""Which image a container was made from, as far as its inside is told."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from envtrack.collect.reading import parse_assignments, read_text
from envtrack.model.fact import Absent, FactState, Known

if TYPE_CHECKING:
    from envtrack.collect.interface import Machine

# Registries that everybody may pull from. The name of another one says where a person works.
_PUBLIC = frozenset(
    {
        "docker.io",
        "gcr.io",
        "ghcr.io",
        "localhost",
        "mcr.microsoft.com",
        "nvcr.io",
        "public.ecr.aws",
        "quay.io",
        "registry.access.redhat.com",
        "registry.k8s.io",
    }
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_HEX_ID = re.compile(r"[0-9a-f]{64}")
_FROM = "org.label-schema.usage.singularity.deffile.from"
_BOOTSTRAP = "org.label-schema.usage.singularity.deffile.bootstrap"
_LABEL_BYTES = 1024 * 1024


def read_image(machine: Machine, runtime: FactState) -> dict[str, FactState]:
    """``name``, ``digest`` (of a name that holds one), ``id`` (podman's), ``base``, ``ngc``.

    Only where a runtime tells the inside of a container: podman a privileged one (podman-run(1),
    ``/run/.containerenv``), Apptainer every one (``/.singularity.d/labels.json`` and variables,
    Apptainer's user guide). Docker and Kubernetes never do; that nothing can ever be known there is
    no news for every comparison, so there is no fact.
    """
    match runtime:
        case Known("podman"):
            states = _read_podman(machine)
        case Known("apptainer" | "singularity"):
            states = _read_apptainer(machine)
        case _:
            states = {}
    return {**states, "ngc": _find_ngc(machine)}


def _read_podman(machine: Machine) -> dict[str, FactState]:
    text = read_text(machine.root / "run/.containerenv")
    values = parse_assignments(text) if isinstance(text, str) else {}
    name, digest = _split_digest(values.get("image", "").strip('"'))
    image_id = values.get("imageid", "").strip('"')
    if not name:
        return {}
    return {
        "name": Known(_hide_registry(name)),
        "digest": Known(digest) if digest else Absent(),
        "id": Known(f"sha256:{image_id}") if _HEX_ID.fullmatch(image_id) else Absent(),
    }


def _read_apptainer(machine: Machine) -> dict[str, FactState]:
    environ = machine.environ
    path = environ.get("APPTAINER_CONTAINER") or environ.get("SINGULARITY_CONTAINER") or ""
    name = PurePosixPath(path).name
    labels = _read_labels(machine)
    base, digest = _split_digest(str(labels.get(_FROM, "")))
    kind = str(labels.get(_BOOTSTRAP, ""))
    shown = f"{kind}://{_hide_registry(base)}" if kind in {"docker", "oras", "shub"} else ""
    return {
        "name": Known(name) if name else Absent(),
        "digest": Known(digest) if digest else Absent(),
        "base": Known(shown) if base and shown else Absent(),
    }


def _read_labels(machine: Machine) -> dict[str, object]:
    text = read_text(machine.root / ".singularity.d/labels.json", limit_bytes=_LABEL_BYTES)
    try:
        labels = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}
    return labels if isinstance(labels, dict) else {}


def _split_digest(image: str) -> tuple[str, str]:
    name, _, tail = image.partition("@")
    return (name, tail) if _DIGEST.fullmatch(tail) else (image, "")


def _hide_registry(image: str) -> str:
    """``nvcr.io/nvidia/pytorch:24.05-py3`` as it is; ``<registry>/team/image:1`` for others.

    As Docker decides it: the first part is a host if it holds a dot or a port.
    """
    image = image.rpartition("@")[
        2
    ]  # without a login, which has no place there but may stand there
    host, slash, rest = image.partition("/")
    is_host = slash and ("." in host or ":" in host or host == "localhost")
    return f"<registry>/{rest}" if is_host and host.partition(":")[0] not in _PUBLIC else image


def _find_ngc(machine: Machine) -> FactState:
    """``PyTorch 24.05, build 92345678``: variables that NVIDIA's own framework images set."""
    product = machine.environ.get("NVIDIA_PRODUCT_NAME", "")
    build = machine.environ.get("NVIDIA_BUILD_ID", "")
    key = f"NVIDIA_{product.upper().replace(' ', '_')}_VERSION"
    version = machine.environ.get(key, "")
    words = [word for word in (product, version) if re.fullmatch(r"[\w .+\-]{1,40}", word)]
    if not product or not words:
        return Absent()
    tail = f", build {build}" if build.isdecimal() else ""
    return Known(" ".join(words) + tail)
