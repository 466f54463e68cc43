"""What came first, and what only followed."""

from __future__ import annotations

from envtrack.triage.rules import Role
from tests.triage.corpus import read, root_of


def test_the_rank_that_failed_first_stands_before_those_that_waited_for_it() -> None:
    log = """\
[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)
[rank1]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)
[rank3]: Traceback (most recent call last):
[rank3]:   File "/work/train.py", line 3, in <module>
[rank3]:     step()
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Root Cause (first observed failure):
[0]:
  time      : 2024-05-21_15:43:03
  rank      : 3 (local_rank: 3)
  exitcode  : 1 (pid: 14750)
"""
    triage = read(log)
    root = triage.root
    assert root is not None
    assert (root.layer, root.line, root.stream) == ("resources", 6, "rank3")
    waited = [f for f in triage.findings[1:] if f.kind == "collective-timeout"]
    assert [(f.line, f.times) for f in waited] == [(1, 2)]


def test_the_rank_that_torchrun_names_is_believed() -> None:
    log = """\
[rank1]: KeyError: 'late'
[rank2]: ZeroDivisionError: division by zero
Root Cause (first observed failure):
[0]:
  rank      : 2 (local_rank: 2)
"""
    root = read(log).root
    assert root is not None
    assert root.stream == "rank2"


def test_interleaved_tracebacks_of_two_ranks_are_told_apart() -> None:
    log = """\
[rank0]: Traceback (most recent call last):
[rank1]: Traceback (most recent call last):
[rank0]:   File "/work/a.py", line 1, in f
[rank1]:   File "/work/b.py", line 2, in g
[rank1]: ModuleNotFoundError: No module named 'yaml'
[rank0]: KeyError: 'x'
"""
    lines = {f.stream: f.line for f in read(log).findings}
    assert lines == {"rank1": 5, "rank0": 6}


def test_of_a_chain_the_cause_is_named_and_not_the_last_exception() -> None:
    log = """\
Traceback (most recent call last):
  File "/x/site-packages/transformers/utils.py", line 1, in get
    import flash_attn_2_cuda
ImportError: /x/flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2E

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/work/run.py", line 2, in <module>
    load()
RuntimeError: Failed to import transformers.models because of the following error
"""
    assert root_of(log) == ("packages", "undefined-symbol", 4)


def test_a_key_that_a_cache_lacked_is_no_cause_of_what_came_while_it_was_handled() -> None:
    log = """\
Traceback (most recent call last):
  File "/work/run.py", line 1, in get
    return cache[key]
KeyError: 3

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/work/run.py", line 3, in <module>
    make(key)
RuntimeError: CUDA out of memory. Tried to allocate 2 GiB
"""
    assert root_of(log)[0] == "resources"


def test_a_warning_that_explains_the_error_is_the_root() -> None:
    log = """\
/x/torch/cuda/__init__.py:118: UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).
Traceback (most recent call last):
  File "/work/run.py", line 3, in <module>
    x.cuda()
RuntimeError: No CUDA GPUs are available
"""
    assert root_of(log) == ("driver", "driver-too-old", 1)


def test_a_warning_that_explains_nothing_is_not_the_root() -> None:
    log = """\
2024-01-01 00:00:00.1: W tensorflow/x.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: x
Traceback (most recent call last):
  File "/work/run.py", line 3, in <module>
    1 / 0
ZeroDivisionError: division by zero
"""
    assert root_of(log)[0] == "code"


def test_a_misleading_last_line_is_not_the_root() -> None:
    log = """\
Traceback (most recent call last):
  File "/work/run.py", line 3, in <module>
    open("x")
OSError: [Errno 28] No space left on device: 'x'
wandb: Synced 5 W&B file(s)
srun: error: gpu01: task 0: Exited with exit code 1
make: *** [train] Error 1
"""
    assert root_of(log) == ("resources", "disk", 4)


def test_words_of_the_source_that_a_traceback_shows_are_no_messages() -> None:
    log = """\
Traceback (most recent call last):
  File "/work/run.py", line 3, in <module>
    raise KeyError("CUDA out of memory")  # NCCL error in
    ^^^^^^^^^^^^^^^^
KeyError: 'x'
"""
    assert root_of(log)[0] == "code"


def test_an_error_that_no_rule_knows_is_unclassified_with_what_to_collect() -> None:
    root = read("frobnicator: fatal error 77 in the flux capacitor").root
    assert root is not None
    assert (root.layer, root.rule) == ("unclassified", "")
    assert root.collect


def test_what_is_said_a_thousand_times_is_one_finding() -> None:
    triage = read("NVRM: Xid (PCI:0000:3b:00): 31, pid=12, name=python\n" * 1000)
    assert [f.times for f in triage.findings] == [1000]


def test_findings_that_followed_are_not_called_causes() -> None:
    triage = read("KeyError: 'a'\nplain\nIndexError: b\n")
    assert [f.role for f in triage.findings] == [Role.CAUSE, Role.FOLLOWS]


def test_an_exception_that_python_ignored_is_no_cause() -> None:
    log = """\
Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f>
Traceback (most recent call last):
  File "/x/site-packages/torch/utils/data/dataloader.py", line 1, in __del__
    self._shutdown_workers()
AssertionError: can only test a child process
Traceback (most recent call last):
  File "/work/run.py", line 3, in <module>
    open("x")
OSError: [Errno 28] No space left on device
"""
    assert root_of(log)[0] == "resources"


def test_notebooks_boxes_and_exception_groups_are_read() -> None:
    notebook = """\
---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
Cell In[3], line 2
      1 d = {}
----> 2 d["CUDA out of memory"]

KeyError: 'CUDA out'
"""
    box = """\
╭──────────── Traceback (most recent call last) ────────────╮
│ /work/train.py:12 in main                                  │
│ ❱ 12     raise RuntimeError("No space left on device")     │
╰────────────────────────────────────────────────────────────╯
ZeroDivisionError: division by zero
"""
    group = """\
  + Exception Group Traceback (most recent call last):
  |   File "/work/run.py", line 3, in <module>
  |     raise ExceptionGroup("two", [a, b])
  | ExceptionGroup: two (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/work/run.py", line 1, in f
    |     import yaml
    | ModuleNotFoundError: No module named 'yaml'
    +------------------------------------
"""
    assert root_of(notebook)[0] == "code"
    assert root_of(box)[0] == "code"
    assert root_of(group)[:2] == ("packages", "module-missing")
