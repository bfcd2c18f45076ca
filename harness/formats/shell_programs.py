"""The programs that a shell command may begin with, by what they do.

A closed vocabulary: a program that is in none of these sets is unknown, and so is what it does. This module refuses to
look at a command; :mod:`harness.formats.tool_commands` does.
"""

from __future__ import annotations

from kpis.terms.trace import ToolOp

__all__ = [
    "DIRECT",
    "FILTERS",
    "KNOWN",
    "LIST",
    "LOOPS",
    "NEUTRAL",
    "READ",
    "RUNNERS",
    "SCRIPTED",
    "SEARCH",
    "SECOND",
    "SHELLS",
    "TEST",
    "VALUED",
    "WAITS",
    "WRAPPERS",
    "WRITE",
]


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


READ = _names(
    "cat head tail less more nl bat sed awk gawk jq yq wc file stat diff cmp xxd od hexdump strings"
    " md5sum sha1sum sha256sum column sort uniq cut tr fold"
)
SCRIPTED = frozenset(("sed", "awk", "gawk", "jq", "yq"))
SEARCH = _names("grep egrep fgrep zgrep rg ag ack find fd fdfind locate which whereis")
LIST = _names("ls ll dir tree du df exa eza")
WRITE = _names("mkdir touch rm rmdir mv cp ln chmod chown tee patch truncate dd install rsync unzip apply_patch")
TEST = _names(
    "pytest py.test tox nox unittest jest vitest mocha ava karma cypress ctest rspec phpunit pest nosetests nose2"
    " trial bats gotestsum"
)
NEUTRAL = _names(
    "cd pushd popd echo printf true : set shopt export unset source . sleep wait test [ [[ pwd date whoami id"
    " exit clear umask trap type hash ulimit alias for done fi } esac"
)
WRAPPERS = _names("sudo time nohup nice env command exec stdbuf xargs npx bunx setsid do then else { ! if while until")
RUNNERS = frozenset(("uv", "poetry", "pipenv", "hatch", "pdm", "rye"))
SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh"))
WAITS = frozenset(("sleep", "wait", "watch"))
LOOPS = frozenset(("while", "until", "for"))
VALUED = _names("-A -B -C -m -t -g -d --type --glob --max-depth")
"""Options of search programs whose next word is their value."""

SECOND = {
    "git": {
        **dict.fromkeys(_names("show diff log blame status rev-parse describe shortlog reflog cat-file"), ToolOp.READ),
        **dict.fromkeys(_names("add commit checkout reset restore switch merge rebase apply mv rm"), ToolOp.WRITE),
        **dict.fromkeys(_names("clean am pull stash revert cherry-pick init clone"), ToolOp.WRITE),
        "grep": ToolOp.SEARCH,
        "ls-files": ToolOp.LIST,
        "ls-tree": ToolOp.LIST,
    },
    **{tool: {"test": ToolOp.TEST, "t": ToolOp.TEST} for tool in ("npm", "yarn", "pnpm", "bun", "cargo")},
    **{tool: {"test": ToolOp.TEST} for tool in ("go", "deno", "dotnet", "swift", "mix", "bazel", "rake", "manage.py")},
    **{tool: {"test": ToolOp.TEST, "check": ToolOp.TEST} for tool in ("make", "gmake", "just", "gradle", "gradlew")},
    **{tool: {"test": ToolOp.TEST, "verify": ToolOp.TEST} for tool in ("mvn", "mvnw")},
}

FILTERS = READ | SEARCH
DIRECT = (READ | SEARCH | LIST | WRITE | TEST | NEUTRAL | frozenset(SECOND)) - {"manage.py"}
KNOWN = frozenset().union(
    READ, SEARCH, LIST, WRITE, TEST, NEUTRAL, WRAPPERS, RUNNERS, SHELLS, LOOPS, SECOND,
    ("timeout", "perl", "python", "python3"),
)  # fmt: skip
