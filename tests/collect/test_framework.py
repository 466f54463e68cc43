from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

from envtrack.collect.framework import FrameworkCollector
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.places import (
    add_distribution,
    facts_of,
    machine,
    make_environment,
    site_of,
    write,
)

# version.py as the wheels of 2.13.0 and 1.9.0 have it: annotated, and not.
NEW = """\
from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'rocm', 'xpu']
__version__ = '2.13.0+cu130'
debug = False
cuda: Optional[str] = '13.0'
git_version = 'cf30153c4c131c8164ee7798e5022d810682e2cb'
hip: Optional[str] = None
rocm: Optional[str] = None
xpu: Optional[str] = None
"""
OLD = """\
__version__ = '1.9.0+cu111'
debug = False
cuda = '11.1'
git_version = 'd69c22dd61a2f006dcfe1e3ea8468a3ecaf931aa'
hip = None
"""
CPU = NEW.replace("cu130", "cpu").replace("'13.0'", "None")
ROCM = (
    NEW.replace("cu130", "rocm6.4")
    .replace("'13.0'", "None")
    .replace("hip: Optional[str] = None", "hip: Optional[str] = '6.4.43482'")
)
ONLY_DEEP = Unknown("not in its files: only --deep can tell")

# Names that `nm -D` shows in libc10.so of the wheels of 2.4.1 and of 2.13.0.
OLD_NAMES = b"\0_ZN3c105ErrorC1ENS_14SourceLocationESs\0_ZNSt7__cxx1112basic_stringIcE\0"
NEW_NAMES = (
    b"\0_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE\0"
)


def elf(**sections: bytes) -> bytes:
    """A 64-bit little-endian ELF file with these sections, by elf(5); ``dynstr`` is ``.dynstr``."""
    names, offsets, body = b"\0", [0], b""
    for name in (*sections, "shstrtab"):
        offsets.append(len(names))
        names += b"." + name.encode() + b"\0"
    rows = []
    for index, content in enumerate((b"", *sections.values(), names)):
        rows.append(
            struct.pack(
                "<IIQQQQIIQQ", offsets[index], 1, 0, 0, 64 + len(body), len(content), 0, 0, 1, 0
            )
        )
        body += content
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        *(3, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(rows), len(rows) - 1),
    )
    return header + body + b"".join(rows)


def add_torch(
    site: Path, version: str = NEW, requires: str = "", files: Mapping[str, bytes] = {}
) -> Path:
    number = version.partition("__version__ = '")[2].partition("'")[0].partition("+")[0]
    info = add_distribution(site, "torch", number)
    write(info / "METADATA", f"Name: torch\nVersion: {number}\n{requires}\nText")
    write(site / "torch/version.py", version)
    for name, content in files.items():
        write(site / "torch" / name, content)
    return site / "torch"


def read(environment: Path, tmp_path: Path) -> dict[str, FactState]:
    facts = facts_of(FrameworkCollector(), machine(tmp_path, environment=environment))
    return {name.removeprefix("framework."): state for name, state in facts.items()}


def test_without_an_environment_no_framework_is_there(tmp_path: Path) -> None:
    facts = facts_of(FrameworkCollector(), machine(tmp_path))
    assert facts["framework.torch.version"] == Absent()
    assert set(facts.values()) == {Absent()}


def test_an_environment_that_can_not_be_read_is_unknown(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    (environment / "pyvenv.cfg").unlink()
    (environment / "pyvenv.cfg").mkdir()
    assert set(read(environment, tmp_path).values()) == {Unknown("is a directory")}


def test_an_environment_without_frameworks_says_of_each_that_it_is_absent(tmp_path: Path) -> None:
    facts = read(make_environment(tmp_path), tmp_path)
    assert facts == dict.fromkeys(
        (
            "torch.version",
            "jax.version",
            "jaxlib.version",
            "tensorflow.version",
            "torchvision.version",
            "torchaudio.version",
        ),
        Absent(),
    )


def test_torch_is_read_from_its_version_file_and_not_from_its_metadata(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_torch(site_of(environment))
    facts = read(environment, tmp_path)
    assert facts["torch.version"] == Known("2.13.0+cu130")
    assert facts["torch.distribution"] == Known("2.13.0")
    assert facts["torch.local"] == Known("cu130")
    assert facts["torch.cuda"] == Known("13.0")
    assert facts["torch.hip"] == Absent()
    assert facts["torch.git"] == Known("cf30153c4c131c8164ee7798e5022d810682e2cb")
    assert facts["torch.debug"] == Known(value=False)
    assert facts["torch.location"] == Known("environment")


def test_an_old_version_file_is_read_alike(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_torch(site_of(environment), OLD)
    facts = read(environment, tmp_path)
    assert facts["torch.version"] == Known("1.9.0+cu111")
    assert facts["torch.cuda"] == Known("11.1")
    assert facts["torch.rocm"] == facts["torch.xpu"] == Absent()


def test_a_build_for_processors_has_no_cuda_no_cudnn_and_no_architectures(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_torch(site_of(environment), CPU)
    facts = read(environment, tmp_path)
    assert facts["torch.local"] == Known("cpu")
    for part in ("cuda", "cudnn", "archs"):
        assert facts[f"torch.{part}"] == Absent()


def test_a_build_for_rocm_has_hip_and_its_own_architectures(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    library = elf(rodata=b"\0gfx90a gfx942 gfx1100\0")
    add_torch(site_of(environment), ROCM, files={"lib/libtorch_python.so": library})
    facts = read(environment, tmp_path)
    assert facts["torch.hip"] == Known("6.4.43482")
    assert facts["torch.archs"] == Known("gfx90a gfx942 gfx1100")
    assert facts["torch.cudnn"] == Absent()


@pytest.mark.parametrize("text", ["", "cuda = something()\n", "\xff\n", "__version__ = '"])
def test_a_version_file_that_says_nothing_is_unknown(tmp_path: Path, text: str) -> None:
    environment = make_environment(tmp_path)
    write(site_of(environment) / "torch/version.py", text)
    facts = read(environment, tmp_path)
    assert facts["torch.version"] == Unknown("a folder torch without version.py")
    assert facts["torch.cuda"] == Unknown("version.py does not say")


def test_metadata_without_files_is_a_broken_installation(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_distribution(site_of(environment), "torch", "2.13.0")
    facts = read(environment, tmp_path)
    assert facts["torch.version"] == Unknown("its metadata is there, but no folder torch")


def test_architectures_are_the_words_that_are_compiled_into_the_library(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    rodata = b"x" * 1_048_570 + b"\0sm_75\0sm_75 sm_80 sm_90a compute_120\0sm_x sm_1\0"
    add_torch(site_of(environment), files={"lib/libtorch_python.so": elf(text=b"?", rodata=rodata)})
    facts = read(environment, tmp_path)
    assert facts["torch.archs"] == Known("sm_75 sm_80 sm_90a compute_120")


@pytest.mark.parametrize(
    ("rodata", "state"),
    [
        (b"\0sm_90\0compute\0", Known("sm_90")),
        (b"\0sm_90\0sm_80\0", ONLY_DEEP),
        (b"\0use sm_80 sm_90 here\0", ONLY_DEEP),
        (b"", ONLY_DEEP),
    ],
)
def test_lone_words_are_taken_only_if_there_is_no_doubt(
    tmp_path: Path, rodata: bytes, state: FactState
) -> None:
    environment = make_environment(tmp_path)
    add_torch(site_of(environment), files={"lib/libtorch_python.so": elf(rodata=rodata)})
    assert read(environment, tmp_path)["torch.archs"] == state


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x7fELF",
        b"\x7fELF\x02\x01\x01" + b"\xff" * 100,
        b"\x7fELF\x01\x01\x01" + b"\0" * 100,
        elf(rodata=b"\0sm_80 sm_90\0")[:-70],
        elf(rodata=b"x").replace(struct.pack("<Q", 64), b"\xff" * 8),
        elf()[:40] + b"\xff" * 8 + elf()[48:],
        elf(other=b""),
    ],
)
def test_a_library_that_can_not_be_understood_is_unknown(tmp_path: Path, content: bytes) -> None:
    environment = make_environment(tmp_path)
    files = {"lib/libtorch_python.so": content, "lib/libc10.so": content}
    add_torch(site_of(environment), files=files)
    facts = read(environment, tmp_path)
    assert facts["torch.archs"] == ONLY_DEEP
    assert facts["torch.cxx11-abi"] == ONLY_DEEP


@pytest.mark.parametrize(
    ("files", "state"),
    [
        # TorchConfig.cmake of 2.4.1, line 160.
        (
            {
                "share/cmake/Torch/TorchConfig.cmake": b'  set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=0")\n'
            },
            Known(value=False),
        ),
        (
            {
                "share/cmake/Torch/TorchConfig.cmake": b'  set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=1")\n',
                "lib/libc10.so": elf(dynstr=OLD_NAMES),
            },
            Known(value=True),
        ),
        ({"lib/libc10.so": elf(dynstr=OLD_NAMES)}, Known(value=False)),
        ({"lib/libc10.so": elf(dynstr=OLD_NAMES + NEW_NAMES)}, Known(value=True)),
        ({"lib/libc10.so": elf(dynstr=b"\0_ZNSt7__cxx1112basic_stringIcE\0")}, ONLY_DEEP),
        ({}, ONLY_DEEP),
    ],
)
def test_the_abi_is_told_by_cmakes_file_or_the_librarys_names(
    tmp_path: Path, files: dict[str, bytes], state: FactState
) -> None:
    environment = make_environment(tmp_path)
    add_torch(site_of(environment), files=files)
    assert read(environment, tmp_path)["torch.cxx11-abi"] == state


# Requires-Dist lines of the wheel of 2.4.1: the older form, with brackets.
PINS = """\
Requires-Dist: filelock
Requires-Dist: nvidia-cudnn-cu12 (==9.1.0.70) ; sys_platform != "win32"
Requires-Dist: nvidia-cublas-cu12 (==12.1.3.1) ; sys_platform == "win32"
Requires-Dist: triton (==3.0.0) ; python_version < "3.13"
Requires-Dist: nvidia-optional (==1) ; extra == 'optional'
"""


def test_pins_are_those_of_this_platform_and_python(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_torch(site_of(environment), requires=PINS)
    facts = read(environment, tmp_path)
    pins = {name: state for name, state in facts.items() if ".pins." in name}
    assert pins == {
        "torch.pins.nvidia-cudnn-cu12": Known("==9.1.0.70"),
        "torch.pins.triton": Known("==3.0.0"),
    }
    assert facts["torch.cudnn"] == Known("9.1.0.70")


def test_a_package_that_stands_for_others_is_followed(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    # As 2.13.0 and cuda-toolkit 13.0.3 have it, cut.
    add_torch(
        site_of(environment),
        requires="Requires-Dist: cuda-toolkit[cublas,cufft]==13.0.3; sys_platform != 'win32'\n",
    )
    info = add_distribution(site_of(environment), "cuda_toolkit", "13.0.3.0")
    write(
        info / "METADATA",
        "Name: cuda-toolkit\nVersion: 13.0.3.0\n"
        "Requires-Dist: nvidia-cublas==13.1.1.3.*; (sys_platform != 'win32') and extra == 'cublas'\n"
        "Requires-Dist: nvidia-cufft==12.0.0.61.*; (sys_platform == 'win32') and extra == 'cufft'\n"
        "Requires-Dist: nvidia-nvtx==13.0.85.*; extra == 'nvtx'\n\n",
    )
    facts = read(environment, tmp_path)
    assert {name: state for name, state in facts.items() if ".pins." in name} == {
        "torch.pins.cuda-toolkit": Known("==13.0.3"),
        "torch.pins.nvidia-cublas": Known("==13.1.1.3.*"),
    }


def test_without_a_pin_the_cudnn_that_torch_brings_is_told_by_its_name(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_torch(site_of(environment), files={"lib/libcudnn.so.8": b"", "lib/libcudnn_ops.so.9": b""})
    assert read(environment, tmp_path)["torch.cudnn"] == Known("8")


def test_without_both_only_torch_itself_can_tell(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_torch(site_of(environment))
    assert read(environment, tmp_path)["torch.cudnn"] == ONLY_DEEP


def test_torch_of_the_system_counts_where_the_environment_sees_it(tmp_path: Path) -> None:
    # Debian's Python in NVIDIA's images.
    add_torch(tmp_path / "root/usr/local/lib/python3.11/dist-packages")
    config = "home = /usr/bin\nversion = 3.11.7\ninclude-system-site-packages = {}\n"
    environment = make_environment(tmp_path, config.format("true"))
    facts = read(environment, tmp_path)
    assert facts["torch.version"] == Known("2.13.0+cu130")
    assert facts["torch.location"] == Known("system")
    write(environment / "pyvenv.cfg", config.format("false"))
    assert read(environment, tmp_path)["torch.version"] == Absent()


def test_the_environments_own_torch_comes_before_the_systems(tmp_path: Path) -> None:
    add_torch(tmp_path / "root/usr/lib/python3/dist-packages", OLD)
    config = "home = /usr/bin\nversion = 3.11.7\ninclude-system-site-packages = true\n"
    environment = make_environment(tmp_path, config)
    add_torch(site_of(environment))
    facts = read(environment, tmp_path)
    assert facts["torch.version"] == Known("2.13.0+cu130")
    assert facts["torch.distribution"] == Known("2.13.0")


def test_companions_show_for_which_build_they_are(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_distribution(site_of(environment), "torchvision", "0.19.1")
    write(site_of(environment) / "torchvision/version.py", "__version__ = '0.19.1+cu121'\n")
    add_distribution(site_of(environment), "torchaudio", "2.4.1+cpu")
    facts = read(environment, tmp_path)
    assert facts["torchvision.version"] == Known("0.19.1+cu121")
    assert facts["torchvision.local"] == Known("cu121")
    assert facts["torchaudio.local"] == Known("cpu")


def test_jax_is_told_with_its_plugins_and_their_major_of_cuda(tmp_path: Path) -> None:
    site = site_of(make_environment(tmp_path))
    for name in ("jax", "jaxlib", "jax_cuda12_pjrt"):
        add_distribution(site, name, "0.10.2")
    info = add_distribution(site, "jax_cuda12_plugin", "0.10.2")
    write(
        info / "METADATA",
        "Name: jax-cuda12-plugin\nVersion: 0.10.2\nRequires-Dist: jax-cuda12-pjrt==0.10.2\n"
        'Requires-Dist: nvidia-cudnn-cu12<10.0,>=9.8; extra == "with-cuda"\n\n',
    )
    facts = read(site.parents[2], tmp_path)
    assert {name: state for name, state in facts.items() if name.startswith("jax")} == {
        "jax.version": Known("0.10.2"),
        "jaxlib.version": Known("0.10.2"),
        "jaxlib.local": Absent(),
        "jax.plugin.cuda12": Known("0.10.2"),
        "jax.pjrt.cuda12": Known("0.10.2"),
        "jax.pins.jax-cuda12-pjrt": Known("==0.10.2"),
        "jax.pins.nvidia-cudnn-cu12": Known("<10.0,>=9.8"),
        "jax.cuda": Known("12"),
        "jax.rocm": Absent(),
    }


def test_an_old_jaxlib_says_its_cuda_in_its_version(tmp_path: Path) -> None:
    site = site_of(make_environment(tmp_path))
    add_distribution(site, "jaxlib", "0.4.23+cuda12.cudnn89")
    facts = read(site.parents[2], tmp_path)
    assert facts["jax.cuda"] == Known("12")
    assert facts["jaxlib.cudnn"] == Known("8.9")


# build_info.py of tensorflow-cpu 2.21.0, and with the values that tf.sysconfig.get_build_info()
# of a release for CUDA shows in public reports.
TF_CPU = """\
import collections

build_info = collections.OrderedDict([('is_cuda_build', False), ('is_rocm_build', False), ('is_tensorrt_build', False)])
"""
TF_CUDA = """\
import collections

build_info = collections.OrderedDict([('cpu_compiler', '/usr/lib/llvm-18/bin/clang'), ('cuda_compute_capabilities', ['sm_60', 'sm_70', 'compute_90']), ('cuda_version', '12.5.1'), ('cudnn_version', '9'), ('is_cuda_build', True), ('is_rocm_build', False)])
"""


def add_tensorflow(site: Path, name: str, build: str) -> None:
    info = add_distribution(site, name, "2.21.0")
    write(
        info / "METADATA",
        f"Name: {name}\nVersion: 2.21.0\n"
        'Requires-Dist: nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == "and-cuda"\n\n',
    )
    write(site / "tensorflow/python/platform/build_info.py", build)


def test_tensorflow_says_what_it_was_built_for(tmp_path: Path) -> None:
    site = site_of(make_environment(tmp_path))
    add_tensorflow(site, "tensorflow", TF_CUDA)
    facts = read(site.parents[2], tmp_path)
    assert {name: state for name, state in facts.items() if name.startswith("tensorflow")} == {
        "tensorflow.version": Known("2.21.0"),
        "tensorflow.distribution": Known("tensorflow"),
        "tensorflow.cuda": Known("12.5.1"),
        "tensorflow.cudnn": Known("9"),
        "tensorflow.archs": Known("sm_60 sm_70 compute_90"),
        "tensorflow.rocm": Absent(),
        "tensorflow.compiler": Known("clang"),
        "tensorflow.pins.nvidia-cudnn-cu12": Known("<10.0,>=9.3.0.75"),
    }


def test_a_tensorflow_for_processors_has_no_cuda_and_no_pins(tmp_path: Path) -> None:
    site = site_of(make_environment(tmp_path))
    add_tensorflow(site, "tensorflow_cpu", TF_CPU)
    facts = read(site.parents[2], tmp_path)
    assert facts["tensorflow.distribution"] == Known("tensorflow-cpu")
    assert facts["tensorflow.cuda"] == Absent()
    assert not [name for name in facts if "pins" in name]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "build_info = 1",
        "build_info = f(open('x'))",
        "x = (",
        "build_info = f([(1, 2, 3)])",
        "\0",
    ],
)
def test_a_build_file_that_can_not_be_understood_is_unknown_and_not_run(
    tmp_path: Path, text: str
) -> None:
    site = site_of(make_environment(tmp_path))
    add_tensorflow(site, "tensorflow", text)
    facts = read(site.parents[2], tmp_path)
    assert facts["tensorflow.cuda"] == Unknown("build_info.py can't be understood")


def test_an_old_tensorflow_without_a_build_file_is_unknown(tmp_path: Path) -> None:
    site = site_of(make_environment(tmp_path))
    add_distribution(site, "tensorflow_gpu", "1.15.0")
    write(site / "tensorflow/__init__.py")
    facts = read(site.parents[2], tmp_path)
    assert facts["tensorflow.version"] == Known("1.15.0")
    assert facts["tensorflow.cuda"] == Unknown("it has no build_info.py")
