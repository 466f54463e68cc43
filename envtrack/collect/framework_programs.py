"""The small programs that ask a framework, run by the environment's own interpreter.

They use nothing of envtrack's and run on every Python since 3.6. Each answer is a line of its own,
written at once, so that what a crash leaves behind still counts. Each attribute is asked for by
itself: an old release lacks some. A timer of the kernel ends what hangs, in a library too.
"""

from __future__ import annotations

MARK = "@envtrack@"
# An import from a cold disk or over a network takes its time: 18 s were measured.
LIMIT_S = 90

_BEGINNING = f"""
import json, os, signal, sys
sys.path[:] = [path for path in sys.path if path]
if hasattr(signal, "setitimer"):
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, {LIMIT_S})

def say(name, value):
    sys.stdout.write("\\n{MARK}" + json.dumps([name, value]) + "\\n")
    sys.stdout.flush()

def describe(error):
    lines = str(error).strip().splitlines() or [""]
    return (type(error).__name__ + ": " + lines[0])[:300]

def ask(name, read):
    say("stage", name)
    try:
        say(name, read())
    except Exception as error:
        say(name, {{"error": describe(error)}})

def load(name):
    say("stage", "import")
    try:
        module = __import__(name)
    except BaseException as error:
        say("import", describe(error))
        os._exit(0)
    say("import", "ok")
    return module
"""

# os._exit: a crash while Python is taken down is no finding of ours.
_END = """
say("stage", "end")
os._exit(0)
"""

TORCH = f"""{_BEGINNING}
torch = load("torch")
ask("version", lambda: str(torch.__version__))
ask("cuda", lambda: torch.version.cuda)
ask("hip", lambda: torch.version.hip)
ask("cxx11-abi", lambda: bool(torch._C._GLIBCXX_USE_CXX11_ABI))
ask("archs", lambda: torch._C._cuda_getArchFlags())
ask("config", lambda: torch.__config__.show())
ask("xnnpack", lambda: bool(__import__("torch.backends.xnnpack", fromlist=["x"]).enabled))
ask("mps-available", lambda: bool(torch.backends.mps.is_available()))
ask("xpu-available", lambda: bool(torch.xpu.is_available()))
ask("cudnn", lambda: torch.backends.cudnn.version())
ask("nccl", lambda: ".".join(str(part) for part in torch.cuda.nccl.version()))
ask("cuda-available", lambda: bool(torch.cuda.is_available()))
ask("device-count", lambda: int(torch.cuda.device_count()))

def kernel():
    try:
        value = (torch.zeros(1, device="cuda") + 1).item()
    except Exception as error:
        return describe(error)
    return "ok" if value == 1 else "wrong result"

if torch.version.cuda or getattr(torch.version, "hip", None):
    ask("kernel", kernel)
    for index in range(min(torch.cuda.device_count(), 16)):
        ask("device.%d.name" % index, lambda: torch.cuda.get_device_name(index))
        ask("device.%d.capability" % index,
            lambda: "%d.%d" % tuple(torch.cuda.get_device_capability(index)))
        if getattr(torch.version, "hip", None):
            ask("device.%d.arch" % index,
                lambda: torch.cuda.get_device_properties(index).gcnArchName)
{_END}"""

# Without preallocation: it would take most of a GPU's memory, on a server that others share.
JAX = f"""{_BEGINNING}
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
jax = load("jax")
ask("version", lambda: str(jax.__version__))
ask("jaxlib", lambda: __import__("jaxlib.version").version.__version__)
ask("backend", lambda: jax.default_backend())

def devices():
    kinds = [str(device.device_kind) for device in jax.devices()]
    return ", ".join("%d x %s" % (kinds.count(kind), kind) for kind in sorted(set(kinds)))

ask("devices", devices)
{_END}"""

TENSORFLOW = f"""{_BEGINNING}
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
tf = load("tensorflow")
ask("version", lambda: str(tf.__version__))
ask("cuda", lambda: tf.sysconfig.get_build_info().get("cuda_version"))
ask("cudnn", lambda: tf.sysconfig.get_build_info().get("cudnn_version"))
ask("cxx11-abi", lambda: bool(tf.sysconfig.CXX11_ABI_FLAG))
ask("compiler", lambda: str(tf.version.COMPILER_VERSION))
ask("device-count", lambda: len(tf.config.list_physical_devices("GPU")))
{_END}"""
