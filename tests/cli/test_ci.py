"""The setups of ``docs/ci.md``, as they stand there."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import yaml

from envtrack.git.environ import without_git
from tests.cli.lab import Lab

DOCS = Path(__file__).parents[2] / "docs" / "ci.md"


def read_block(mark: str) -> str:
    found = re.search(
        rf"<!-- {mark} -->\n```sh\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found is not None
    return found[1]


def test_a_servers_hook_refuses_what_breaks_the_policy(lab: Lab, tmp_path: Path) -> None:
    bare = tmp_path / "server.git"
    lab.repo.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(bare)])
    lab.repo.git("remote", "add", "server", str(bare))
    lab.repo.write(".envtrack/config.yaml", "layers:\n  framework: [wick]\n")
    lab.repo.write(".envtrack/policies/ours.yaml", "kind: UpgradePolicy\n")
    lab.lock("wick<1.1", "flint<2")
    lab.repo.commit("both asked for")
    lab.repo.git("push", "--quiet", "server", "HEAD:main")
    hook = bare / "hooks" / "pre-receive"
    hook.write_text(read_block("pre-receive"))
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    fine = lab.repo.git("rev-parse", "HEAD").strip()

    def push(branch: str) -> subprocess.CompletedProcess[str]:
        environ = without_git(os.environ)
        environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
        command = ["git", "push", "--quiet", "server", f"HEAD:{branch}"]
        return subprocess.run(
            command, cwd=lab.repo.path, env=environ, capture_output=True, text=True, check=False
        )

    lab.lock("wick", "flint<3")
    lab.repo.commit("both at once")
    refused = push("main")
    assert refused.returncode != 0
    assert "one-layer" in refused.stderr
    assert "2 layers move, 1 may" in refused.stderr
    assert lab.repo.git("ls-remote", str(bare), "refs/heads/main").split()[0] == fine
    assert push("feature").returncode != 0
    lab.repo.git("reset", "--quiet", "--hard", fine)
    lab.repo.write("notes.txt", "no lockfile\n")
    lab.repo.commit("words")
    assert push("main").returncode == 0


def test_the_pull_requests_line_checks_and_writes_a_comment(lab: Lab, tmp_path: Path) -> None:
    base = lab.repo.git("rev-parse", "HEAD").strip()
    lab.lock("wick")
    lab.repo.commit("two")
    head = lab.repo.git("rev-parse", "HEAD").strip()
    assert lab.run("check", f"{base}..{head}").code == 0
    comment = tmp_path / "comment.md"
    assert lab.run("diff", base, head, "--format", "markdown", "--output", str(comment)).code == 0
    assert "| wick | 1.0 | 1.1 | upgraded | root |" in comment.read_text()


def test_the_yaml_of_the_docs_and_of_the_framework_is_yaml() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert [next(iter(yaml.safe_load(block))) for block in blocks] == [
        "name",
        "environment",
        "repos",
    ]
    hooks = yaml.safe_load((DOCS.parents[1] / ".pre-commit-hooks.yaml").read_text())
    told = yaml.safe_load(blocks[2])["repos"][0]["hooks"]
    assert {hook["id"]: hook["entry"] for hook in hooks} == {
        hook["id"]: hook["entry"] for hook in told
    }
