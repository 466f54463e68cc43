"""More than forty kinds of secret, and the places in which people really have them.

Each is a value of its own, so that a leak says which kind it was. Those that stand where a known
shape stands (a token's prefix, a URL's userinfo) have that shape.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.collect.places import add_distribution, site_of, write

USER = "zachariasx"
OTHER_USER = "mallorysmith"
HOST = "kryptonite07"
DOMAIN = f"{HOST}.lab.example.org"
ADDRESS = "10.77.88.99"
ADDRESS_6 = "fd77:88::99"
MAC = "02:42:ac:77:88:99"
GPU_UUID = "8932f937-d72c-4106-c12f-20bd9faed9f6"
MACHINE_ID = "0123456789abcdef7788990011223344"
CONTAINER_ID = "77889900aabbccddeeff00112233445566778899aabbccddeeff001122334455"
SERIAL = "CZJ77889900"


def secret(kind: str) -> str:
    """A word that stands nowhere else: ``Sq7pipindexurlZ9``."""
    return f"Sq7{''.join(c for c in kind.lower() if c.isalnum())}Z9"


@dataclass(frozen=True, slots=True)
class Planted:
    """One secret.

    Attributes:
        kind: what it is, for the report of a leak.
        text: what must be found nowhere.
    """

    kind: str
    text: str


# Variables that are recorded, with a secret in the value.
LISTED = {
    "PIP_INDEX_URL": "https://lab:{}@index.example/simple",
    "PIP_EXTRA_INDEX_URL": "https://index.example/simple?token={}",
    "PIP_FIND_LINKS": "https://files.example/wheels?X-Amz-Signature={}",
    "UV_INDEX": "internal=https://lab:{}@index.example/simple",
    "UV_DEFAULT_INDEX": "https://{}@index.example/simple",
    "UV_INDEX_URL": "https://conda.example/t/{}/simple",
    "UV_EXTRA_INDEX_URL": "https://lab:pa?ss#{}@index.example/simple",
    "UV_FIND_LINKS": "https://files.example/wheels?sig={}",
    "UV_PYTHON_INSTALL_MIRROR": "https://lab:{}@mirror.example/python",
    "HF_ENDPOINT": "https://hub.example/hub;jsessionid={}",
    "CONDA_CHANNELS": "https://conda.example/t/{}/main,defaults",
    "CONDA_CHANNEL_ALIAS": "https://lab:{}@conda.example",
    "XLA_FLAGS": "--xla_dump_to=gs://lab:{}@bucket/dump",
    "CMAKE_ARGS": "-DAPI_TOKEN={}",
    "CFLAGS": "-DPASSWORD={}",
    "LD_LIBRARY_PATH": "/opt/lib:https://lab:{}@files.example/lib",
    "OMP_NUM_THREADS": "{}",
    "UV_FROZEN": "{}",
    "NCCL_IB_TIMEOUT": "{}",
}
# Variables that are none of envtrack's business.
UNLISTED = {
    "HF_TOKEN": "hf_{}",
    "WANDB_API_KEY": "{}",
    "AWS_SECRET_ACCESS_KEY": "{}",
    "GITHUB_TOKEN": "ghp_{}",
    "OPENAI_API_KEY": "sk-{}",
    "UV_INDEX_LAB_PASSWORD": "{}",
    "UV_PUBLISH_TOKEN": "pypi-{}",
    "HTTPS_PROXY": "http://lab:{}@proxy.example:3128",
    "GIT_CONFIG_VALUE_0": "Authorization: Basic {}",
    "DATABASE_URL": "postgres://lab:{}@db.example/runs",
    "SLURM_JOB_ACCOUNT": "{}",
    "KUBECONFIG": "/srv/{}/config",
    "MASTER_ADDR": "{}.example",
    "NCCL_COMM_ID": "{}.example:4242",
    "SSH_AUTH_SOCK": "/tmp/ssh-{}/agent.1",
}
# Files of a home, of a project and of an environment, none of which is read, or not for this.
HOME_FILES = {
    ".netrc": "machine index.example login lab password {}\n",
    ".config/pip/pip.conf": "[global]\nindex-url = https://lab:{}@index.example/simple\n",
    ".config/uv/uv.toml": '[[index]]\nurl = "https://lab:{}@index.example/simple"\n',
    ".git-credentials": "https://lab:{}@git.example\n",
    ".pypirc": "[pypi]\nusername = __token__\npassword = pypi-{}\n",
    ".cache/huggingface/token": "hf_{}\n",
    ".ssh/id_ed25519": "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----\n",
    ".docker/config.json": '{{"auths": {{"registry.example": {{"auth": "{}"}}}}}}\n',
    ".condarc": "channels:\n  - https://conda.example/t/{}/main\n",
}
PROJECT_FILES = {
    ".env": "API_KEY={}\n",
    "uv.toml": 'index-url = "https://lab:{}@index.example/simple"\n',
}
# A wheel's direct_url.json (PEP 610), by what else it says.
DIRECT_URLS: dict[str, tuple[str, dict[str, object]]] = {
    "password": ("https://lab:{}@files.example/a.whl", {"archive_info": {}}),
    "query": ("https://files.example/a.whl?token={}", {"archive_info": {}}),
    "fragment": ("https://files.example/a.whl#token={}", {"archive_info": {}}),
    "git": (
        "https://x-access-token:{}@git.example/a",
        {"vcs_info": {"vcs": "git", "commit_id": "0a" * 20}},
    ),
    "ssh": ("ssh://{}@git.example/a", {"vcs_info": {"vcs": "git", "commit_id": "0a" * 20}}),
    "folder": ("file:///home/{}/src/a", {"dir_info": {"editable": True}}),
    "share": ("file:///Users/{}/wheels/a.whl", {"archive_info": {}}),
}


def environ() -> dict[str, str]:
    """The variables, with their secrets in place."""
    named = {name: form.format(secret(name)) for name, form in {**LISTED, **UNLISTED}.items()}
    return {
        **named,
        "USER": USER,
        "LOGNAME": USER,
        "HOSTNAME": DOMAIN,
        "SSH_CLIENT": f"{ADDRESS} 50022 22",
        "CUDA_VISIBLE_DEVICES": f"GPU-{GPU_UUID}",
        "NVIDIA_VISIBLE_DEVICES": f"MIG-GPU-{GPU_UUID}/1/0",
        "UV_INSECURE_HOST": f"{ADDRESS}:8080",
        "PIP_TRUSTED_HOST": DOMAIN,
        "HF_INFERENCE_ENDPOINT": f"http://[{ADDRESS_6}]:8080/",
        "PYTHONPATH": f"/scratch/{USER}/src:/nodes/{HOST}/lib:/home/{OTHER_USER}/src",
        "UCX_NET_DEVICES": MAC,
    }


def plant_home(home: Path) -> None:
    for name, form in HOME_FILES.items():
        write(home / name, form.format(secret(name)))


def plant_project(project: Path) -> None:
    for name, form in PROJECT_FILES.items():
        write(project / name, form.format(secret(name)))


def plant_environment(environment: Path) -> None:
    """A ``.venv`` whose metadata holds secrets in every way that installers write them."""
    write(
        environment / "pyvenv.cfg",
        f"home = /home/{OTHER_USER}/python/bin\nversion = 3.11.7\n"
        f"prompt = {secret('prompt')}\n"
        f"command = /usr/bin/python -m venv /home/{OTHER_USER}/{secret('command')}\n",
    )
    write(
        environment / "pip.conf",
        f"[global]\nindex-url = https://l:{secret('venv pip')}@x.example\n",
    )
    site = site_of(environment)
    site.mkdir(parents=True, exist_ok=True)
    for number, (kind, (form, more)) in enumerate(DIRECT_URLS.items()):
        text = json.dumps({"url": form.format(secret(f"direct {kind}")), **more})
        add_distribution(site, f"planted{number}", "1.0", direct_url=text)
    write(site / "__editable__.loose-1.pth", f"/home/{OTHER_USER}/{USER}/src\n")
    add_distribution(site, "loose", "1")
    version = f"https://lab:{secret('version')}@x.example"
    write(site / "odd-1.dist-info/METADATA", f"Name: odd\nVersion: {version}\n")
    write(site / "old.egg-link", f"/home/{OTHER_USER}/old\n.\n")


def plant_root(root: Path) -> None:
    """A machine's files, with what names it and the people on it."""
    write(root / "etc/hostname", f"{DOMAIN}\n")
    write(root / "proc/sys/kernel/hostname", f"{HOST}\n")
    write(root / "etc/machine-id", f"{MACHINE_ID}\n")
    write(root / "etc/hosts", f"{ADDRESS} {DOMAIN} {HOST}\n")
    write(root / "etc/passwd", f"{USER}:x:1000:1000:{OTHER_USER}:/home/{USER}:/bin/sh\n")
    write(root / "etc/os-release", f"ID=x\nPRETTY_NAME='TOKEN={secret('os release')}'\n")
    write(root / "sys/class/net/eth0/address", f"{MAC}\n")
    write(root / "sys/class/dmi/id/product_serial", f"{SERIAL}\n")
    write(root / "sys/class/dmi/id/product_uuid", f"{MACHINE_ID}\n")
    write(root / "sys/class/dmi/id/product_name", "PowerEdge XE9680\n")
    write(root / f"boot/vmlinuz-0-rescue-{MACHINE_ID}")
    write(root / "proc/sys/kernel/osrelease", "6.8.0-45-generic\n")
    write(
        root / "proc/version",
        f"Linux version 6.8.0-45-generic ({USER}@{DOMAIN}) (gcc 13) #45 SMP {secret('build')[:0]}\n",
    )
    write(root / "proc/cmdline", f"root=UUID={MACHINE_ID} password={secret('kernel command')}\n")
    write(root / "proc/self/cgroup", f"0::/docker/{CONTAINER_ID}\n")
    write(root / "proc/1/cgroup", f"0::/docker/{CONTAINER_ID}\n")
    write(
        root / "proc/self/mountinfo",
        f"1 0 0:1 / / rw - overlay overlay rw,lowerdir=/home/{OTHER_USER}/{CONTAINER_ID}\n",
    )
    gpu = root / "proc/driver/nvidia/gpus/0000:17:00.0/information"
    write(
        gpu, f"Model: \t\t NVIDIA L4\nGPU UUID: \t GPU-{GPU_UUID}\nBus Location: \t 0000:17:00.0\n"
    )
    write(
        root / "proc/driver/nvidia/version",
        f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Release Build  ({USER}@{HOST})\n",
    )


def planted(*, with_root: bool) -> Iterator[Planted]:
    """Every secret that is in place.

    Args:
        with_root: whether those of the machine's own files count: the running one has its own.
    """
    for name in (*LISTED, *UNLISTED):
        yield Planted(f"variable {name}", secret(name))
    for name in (*HOME_FILES, *PROJECT_FILES):
        yield Planted(f"file {name}", secret(name))
    for kind in DIRECT_URLS:
        yield Planted(f"direct_url.json {kind}", secret(f"direct {kind}"))
    for kind in ("prompt", "command", "venv pip", "version"):
        yield Planted(f"environment {kind}", secret(kind))
    yield Planted("user name", USER)
    yield Planted("another user's name", OTHER_USER)
    yield Planted("host name", HOST)
    yield Planted("IP address", ADDRESS)
    yield Planted("IPv6 address", ADDRESS_6)
    yield Planted("MAC address", MAC)
    yield Planted("GPU UUID", GPU_UUID)
    if with_root:
        yield Planted("machine id", MACHINE_ID)
        yield Planted("container id", CONTAINER_ID)
        yield Planted("serial number", SERIAL)
        yield Planted("os-release", secret("os release"))
        yield Planted("kernel command line", secret("kernel command"))


def find_leaks(text: str, *, with_root: bool = False) -> list[str]:
    """The kinds that are in a text, whatever their case."""
    lower = text.lower()
    return [one.kind for one in planted(with_root=with_root) if one.text.lower() in lower]
