from __future__ import annotations

from pathlib import Path

import pytest

from envtrack.collect.setting_names import SETTINGS
from envtrack.collect.settings import SettingsCollector, is_secret_name
from envtrack.model.fact import Known
from tests.collect.places import facts_of, machine


def value_of(tmp_path: Path, name: str, text: str, salt: str = "") -> object:
    environ = {name: text, "HOSTNAME": "gpu07.lab.example"}
    where = machine(tmp_path, environ=environ, salt=salt)
    (state,) = facts_of(SettingsCollector(), where).values()
    assert isinstance(state, Known)
    return state.value


def test_only_listed_variables_that_are_set_are_recorded(tmp_path: Path) -> None:
    environ = {"CUDA_VISIBLE_DEVICES": "", "PATH": "/usr/bin", "HF_TOKEN": "x", "MY_VARIABLE": "y"}
    facts = facts_of(SettingsCollector(), machine(tmp_path, environ=environ))
    assert facts == {"settings.CUDA_VISIBLE_DEVICES": Known("")}


def test_no_listed_name_is_one_of_a_secret() -> None:
    assert [name for name in SETTINGS if is_secret_name(name)] == []


@pytest.mark.parametrize(
    "name",
    [
        *("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "CUDA_HOME", "TORCH_CUDA_ARCH_LIST"),
        *("NCCL_ALGO", "NCCL_IB_QPS_PER_CONNECTION", "OMP_NUM_THREADS", "PYTHONPATH", "XLA_FLAGS"),
        *("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "CONDA_OVERRIDE_CUDA", "GLIBC_TUNABLES"),
    ],
)
def test_what_changes_behaviour_is_on_the_list(name: str) -> None:
    assert name in SETTINGS


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "VIRTUAL_ENV", "HOSTNAME", "USER", "SSH_CLIENT", "MASTER_ADDR", "NCCL_COMM_ID"),
        *("NCCL_HOSTID", "SLURM_JOB_USER", "HTTPS_PROXY", "HF_TOKEN", "GIT_CONFIG_VALUE_0"),
    ],
)
def test_what_names_a_person_or_a_machine_is_not(name: str) -> None:
    assert name not in SETTINGS


@pytest.mark.parametrize(
    "name", ["UV_INDEX_X_PASSWORD", "HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "X_AUTH"]
)
def test_secret_names_are_known(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("OMP_NUM_THREADS", " 4 ", 4),
        ("OMP_NUM_THREADS", "4,2", "4,2"),
        ("OMP_NUM_THREADS", "c4nary", "set (not a number)"),
        ("OMP_NUM_THREADS", "9" * 5000, "set (not a number)"),
        ("UV_FROZEN", "True", "true"),
        ("UV_FROZEN", "c4nary", "set (not a switch)"),
        ("CUDA_VISIBLE_DEVICES", "0,1", "0,1"),
        ("CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c-4106", "GPU-*** (redacted)"),
        ("CUDA_VISIBLE_DEVICES", "MIG-GPU-8932f937-d72c/1/0", "MIG-*** (redacted)"),
        ("CUBLAS_WORKSPACE_CONFIG", ":4096:8", ":4096:8"),
        ("XLA_FLAGS", "--xla_gpu_a=true --xla_b=2", "--xla_gpu_a=true --xla_b=2"),
        ("TORCH_CUDA_ARCH_LIST", "8.0;9.0+PTX", "8.0;9.0+PTX"),
        ("NCCL_DEBUG", 'x"\ny', "set (redacted)"),
        ("LD_LIBRARY_PATH", "/opt/cuda@12/lib:/usr/lib", "/opt/cuda@12/lib:/usr/lib"),
        ("UV_INSECURE_HOST", "10.1.2.3:8080", "***:8080 (redacted)"),
        ("UV_INSECURE_HOST", "127.0.0.1:8080 localhost", "127.0.0.1:8080 localhost"),
        ("PIP_TRUSTED_HOST", "gpu07.lab.example gpu07", "<host> <host> (redacted)"),
        ("PIP_TRUSTED_HOST", "gpu07-mirror.example", "gpu07-mirror.example"),
        ("PIP_INDEX_URL", "http://10.1.2.3/simple", "http://***/simple (redacted)"),
        ("PIP_INDEX_URL", "http://[fd00::7]:80/simple", "http://***:80/simple (redacted)"),
        ("UV_FIND_LINKS", "http://127.0.0.1/x http://[::1]/", "http://127.0.0.1/x http://[::1]/"),
        ("UCX_NET_DEVICES", "02:42:ac:11:00:02", "*** (redacted)"),
        ("LD_PRELOAD", "/opt/cudnn/9.1.0.70/x.so", "/opt/cudnn/9.1.0.70/x.so"),
        (
            "PIP_EXTRA_INDEX_URL",
            "https://u:c4nary@registry.example/a https://registry.example/b?key=c4nary",
            "https://***@registry.example/a https://registry.example/b?key=*** (redacted)",
        ),
    ],
)
def test_values_are_shown_in_their_type(
    tmp_path: Path, name: str, text: str, value: object
) -> None:
    assert value_of(tmp_path, name, text) == value


def test_a_change_of_a_hidden_value_is_seen_under_the_repositorys_key(tmp_path: Path) -> None:
    urls = [f"https://u:{password}@registry.example/simple" for password in ("one", "two")]
    shown = [value_of(tmp_path, "PIP_INDEX_URL", url, salt="key") for url in urls]
    assert shown[0] != shown[1]
    assert all(str(text).startswith("https://***@registry.example/simple (red") for text in shown)
    assert value_of(tmp_path, "PIP_INDEX_URL", urls[0], salt="key") == shown[0]
    assert value_of(tmp_path, "PIP_INDEX_URL", urls[0], salt="other") != shown[0]
