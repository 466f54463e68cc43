"""The names that the rules say they look at against those that the collectors give."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from envtrack.collect.setting_names import SETTINGS
from envtrack.collect.take import COLLECTORS
from envtrack.compat.judge import RULES
from envtrack.model.fact import Fact
from tests.collect.gpu_machines import CONSUMER
from tests.collect.places import add_distribution, make_environment, site_of, write

# A version.py and metadata as PyTorch's wheels have them.
VERSION = "__version__ = '2.5.1+cu124'\ncuda: Optional[str] = '12.4'\nhip: Optional[str] = None\n"
PINS = (
    "Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1\n"
    'Requires-Dist: nvidia-cudnn-cu12==9.1.0.70; platform_system == "Linux"\n\n'
)
VARIABLES = {"CC": "gcc-12", "CXX": "g++-12", "CUDAHOSTCXX": "g++-12", "NVCC_CCBIN": "gcc-12"}
# Others are there only with a package that no test builds by hand.
_NOT_HERE = {
    "framework.tensorflow.cuda",
    "framework.jax.cuda",
    "cuda-runtime.shadow.<component>",
}


def collect_names(base: Path) -> set[str]:
    environment = make_environment(base)
    site = site_of(environment)
    write(site / "torch" / "version.py", VERSION)
    add_distribution(site, "torch", "2.5.1", METADATA=PINS)
    machine = replace(CONSUMER, environ=VARIABLES).build(base, environment)
    facts = [
        record.name
        for collector in COLLECTORS
        for record in collector.collect(machine)
        if isinstance(record, Fact)
    ]
    names = {re.sub(r"(?<=hardware\.gpu\.)\d+", "<n>", name) for name in facts}
    return {re.sub(r"(?<=torch\.pins\.).+", "<package>", name) for name in names}


def test_every_fact_that_a_rule_looks_at_is_one_that_is_collected(tmp_path: Path) -> None:
    looked_at = {
        fact
        for rule in RULES
        for fact in rule.facts
        if not fact.startswith(("installed:", "lockfile:", "settings."))
    }
    assert looked_at - collect_names(tmp_path) == _NOT_HERE


def test_every_setting_that_a_rule_looks_at_is_on_the_list() -> None:
    settings = {
        fact.removeprefix("settings.")
        for rule in RULES
        for fact in rule.facts
        if fact.startswith("settings.")
    }
    assert settings <= SETTINGS.keys()
