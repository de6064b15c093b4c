"""The digest of a run's code: blind to how it is written, sensitive to what it means, for just the runs it touches."""

import re
import shutil

import pytest
from attest_changes import CHANGES
from conftest import ROOT, refused

from hidden_dynamics.configuration.runs import Run, all_runs, code_of
from hidden_dynamics.system import digest
from hidden_dynamics.system.digest import code_digest as code


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A directory in the place of the repository, empty; `write` puts a file there."""
    monkeypatch.setattr(digest, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    forget()
    yield tmp_path
    forget()


def forget():
    for function in vars(digest).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    forget()


BASE = '''
"""A module."""
from math import exp

RATE = 0.5
UNUSED = 1


def helper(x):
    """Half of x."""
    return RATE * x


@staticmethod
def decorate(f):
    return f


class Base:
    def scale(self):
        return helper(2)


@decorate
class Cell(Base):
    """A cell."""

    size: int = 3

    def forward(self, x):
        """One step."""
        # a comment
        return exp(x) + self.scale()


def other():
    return 1
'''


REVERSED = "\n\n\n".join([BASE.split("\n\n\n")[0], *reversed(BASE.split("\n\n\n")[1:])])


SAME = [
    (BASE, REVERSED),
    ("# a comment", "# another comment\n        # and one more"),
    ('"""One step."""', '"""One step,\n        in other words."""'),
    ('"""A cell."""', ""),
    ('        """One step."""\n', ""),
    ('"""A module."""', '"""Said otherwise."""'),
    ("return exp(x) + self.scale()", "return (\n            exp(x)\n            + self.scale()\n        )"),
    ("RATE = 0.5", "RATE = 0.50  # half"),
    ("return 1", "return 2"),
    ("UNUSED = 1", "UNUSED = 2"),
    ("UNUSED = 1", ""),
    ("def other", "def unrelated(a, b):\n    return a\n\n\ndef other"),
    ("from math import exp", "import os\nfrom math import exp, log"),
    ("class Base:", "\n\n\n\nclass Base:  # the base"),
    ("def forward(self, x):", "def forward(self, x: other) -> other:"),
    ("RATE = 0.5", "RATE: other = 0.5"),
]
ANOTHER = [
    ("exp(x)", "exp(-x)"),
    ("RATE = 0.5", "RATE = 0.6"),
    ("return RATE * x", "return RATE + x"),
    ("return helper(2)", "return helper(3)"),
    ("return f\n", "return lambda *a: f(*a)\n"),
    ("@decorate\n", ""),
    ("class Cell(Base)", "class Cell"),
    ("size: int = 3", "size: int = 4"),
    ("from math import exp", "from numpy import exp"),
    ("RATE = 0.5", "RATE = 0.5\nRATE *= 2"),
    ("RATE = 0.5", "RATE = 0.5\nRATE.unit = 2"),
]


@pytest.mark.parametrize(("old", "new"), [*SAME, *ANOTHER])
def test_a_change_of_meaning_anywhere_it_reaches_changes_it_and_of_nothing_else(sources, old, new):
    """Comments, docstrings, types, formatting and unrelated definitions do not count."""
    write(sources, {"cells.py": BASE})
    before, beside = code("cells.Cell"), code("cells.other")
    assert old in BASE
    write(sources, {"cells.py": BASE.replace(old, new)})
    assert (code("cells.Cell") == before) == ((old, new) in SAME)
    assert (old, new) in SAME or code("cells.other") == beside


CALL, INIT = "def cell(x): return step(x)", "library/__init__.py"
WAYS_TO_IMPORT = {
    # cells.py, and other files (None: one that is not there)
    "name": (f"from library.steps import step\n{CALL}", {}),
    "name under another": ("from library.steps import step as s\ndef cell(x): return s(x)", {}),
    "module": ("from library import steps\ndef cell(x): return steps.step(x)", {}),
    "dotted module": ("import library.steps\ndef cell(x): return library.steps.step(x)", {}),
    "package and module": ("import library\ndef cell(x): return library.steps.step(x)", {}),
    "within a function": ("def cell(x):\n    from library.steps import step\n    return step(x)", {}),
    "where it can be": (f"try:\n    from library.steps import step\nexcept ImportError:\n    step = None\n{CALL}", {}),
    "within a function, where the module has one of its name": (
        "def step(x): return x\ndef cell(x):\n    from library.steps import step\n    return step(x)",
        {},
    ),
    "re-exported": (f"from library import step\n{CALL}", {INIT: "from library.steps import step\n"}),
    "re-exported by its place": (f"from library import step\n{CALL}", {INIT: "from .steps import step\n"}),
    "from a module of its own package": (
        "from library.cells import cell",
        {"library/cells.py": f"from .steps import step\n{CALL}"},
    ),
    "from the package above": (
        "from library.deep.cells import cell",
        {"library/deep/__init__.py": "", "library/deep/cells.py": f"from ..steps import step\n{CALL}"},
    ),
    "without an init file": ("from library import steps\ndef cell(x): return steps.FACTOR", {INIT: None}),
    "constant": ("from library.steps import FACTOR\ndef cell(x): return FACTOR * x", {}),
    "base class": ("from library import steps\nclass cell(steps.Base): pass", {}),
    "default argument": ("from library import steps\ndef cell(x=steps.FACTOR): return x", {}),
    "decorator": ("from library.steps import step\n@step\ndef cell(x): return x", {}),
}
STEPS = "FACTOR = 2\ndef step(x): return FACTOR * x\nclass Base:\n    factor = FACTOR\ndef unrelated(): return 1\n"


@pytest.mark.parametrize("way", WAYS_TO_IMPORT)
def test_a_definition_is_followed_into_the_module_it_comes_from(sources, way):
    cells, others = WAYS_TO_IMPORT[way]
    files = {INIT: "", "library/steps.py": STEPS, "cells.py": cells} | others
    write(sources, {name: text for name, text in files.items() if text is not None})
    before = code("cells.cell")
    write(sources, {"library/steps.py": STEPS.replace("return 1", "return 5")})
    assert code("cells.cell") == before
    write(sources, {"library/steps.py": STEPS.replace("FACTOR = 2", "FACTOR = 3")})
    assert code("cells.cell") != before


def test_all_names_of_a_module_at_once_are_refused_but_of_installed_ones(sources):
    write(sources, {"cells.py": "from math import *\ndef cell(x): return exp(x)"})
    assert code("cells.cell")
    write(sources, {"cells.py": f"from steps import *\n{CALL}", "steps.py": STEPS})
    with refused(f"{re.escape(str(sources / 'cells.py'))}: line 1: "):
        code("cells.cell")


RENAMED = "from library.a import step as s\nfrom library.b import step as t\n"
AMBIGUOUS = {
    # two things in a text, which then change places
    "of two modules": ("from library import a, b\ndef cell(x): return {} - {}", "a.step(x)", "b.step(x)"),
    "of two modules, renamed": (f"{RENAMED}def cell(x): return {{}} - {{}}", "s(x)", "t(x)"),
    "its own and another": (
        "from library import b\ndef step(x): return x\ndef cell(x): return {} - {}",
        *("step(x)", "b.step(x)"),
    ),
    "an argument and another": ("from library.a import step as s\ndef cell(step): return {} - {}", "step(1)", "s(1)"),
    "hidden by an argument": ("from library.a import step as s\ndef cell(s, step): return {} - {}", "s(1)", "step(1)"),
    "imported functions": (
        "from library.a import step as {}\nfrom library.b import step as {}\ndef cell(x): return s(x) - t(x)",
        *("s", "t"),
    ),
    "imported modules": (
        "from library import a as {}\nfrom library import b as {}\ndef cell(x): return s.step(x) - t.step(x)",
        *("s", "t"),
    ),
}


@pytest.mark.parametrize("way", AMBIGUOUS)
def test_two_things_of_one_name_are_told_apart(sources, way):
    text, one, other = AMBIGUOUS[way]
    library = {"library/a.py": "def step(x): return x + 1", "library/b.py": "def step(x): return x + 2"}
    write(sources, library | {"cells.py": text.format(one, other)})
    before = code("cells.cell")
    write(sources, {"cells.py": text.format(other, one)})
    assert code("cells.cell") != before


def test_definitions_are_followed_once_installed_packages_by_name_only_and_nothing_is_imported(sources):
    write(sources, {"cells.py": "def a(n): return b(n)\ndef b(n): return a(n)"})
    assert set(digest.reachable(["cells.a"])) == {"cells:a", "cells:b"}
    text = "import numpy as np\nfrom torch import nn\nclass Cell(nn.Module):\n    x = np.pi\nraise SystemExit"
    write(sources, {"cells.py": text})
    others = {key: text for key, text in digest.reachable(["cells.Cell"]).items() if not key.startswith("cells")}
    assert others == dict.fromkeys(["numpy:", "numpy.pi:", "torch.nn:", "torch.nn.Module:"], "")


CIRCLE = ["def even(n): return n == 0 or odd(n - 1)\n", "def odd(n): return n != 0 and even(n - 1)\n"]


def test_definitions_that_name_each_other_have_a_digest_each_wherever_they_lie(sources):
    names = ("cells.even", "cells.odd", "cells.twice")
    write(sources, {"cells.py": "".join([*CIRCLE, "def twice(n): return 2 * even(n)\n"])})
    before = [code(name) for name in names]
    assert len({*before}) == 3
    apart = f"from deep.odds import odd\n{CIRCLE[0]}def twice(n): return 2 * even(n)\n"
    write(sources, {"cells.py": apart, "deep/odds.py": f"from cells import even\n{CIRCLE[1]}"})
    assert [code(name) for name in names] == before
    write(sources, {"deep/odds.py": f"from cells import even\n{CIRCLE[1].replace('!=', '>')}"})
    assert not {*before} & {code(name) for name in names}


@pytest.mark.parametrize("name", ["cells.Nothing", "nowhere.Cell", "cells.Cell.forward"])
def test_an_unknown_name_is_refused(sources, name):
    write(sources, {"cells.py": BASE})
    with refused(f"{re.escape(name)} is not defined: check the name in config/"):
        code(name)


def test_a_syntax_error_names_file_and_line_where_it_is_reached(sources):
    write(sources, {"cells.py": "from steps import f\ndef cell(): return f()", "steps.py": "a = 1\ndef f(:\n    pass"})
    with refused(f"{re.escape(str(sources / 'steps.py'))}: line 2: "):
        code("cells.cell")
    write(sources, {"cells.py": "import steps\ndef cell(): return 1"})
    assert code("cells.cell")  # it is not reached


def test_a_package_beside_the_working_directory_is_followed(sources, tmp_path_factory, monkeypatch):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write(sources, {"library.py": "X = 1"})
    cell = "import library\nclass Cell:\n    x = library.X"
    write(elsewhere, {"mine/__init__.py": "from mine.cell import Cell", "mine/cell.py": cell})
    with refused("mine.Cell is not defined"):
        code("mine.Cell")
    monkeypatch.chdir(elsewhere)
    forget()
    digests = [code("mine.Cell")]
    write(elsewhere, {"mine/cell.py": cell.replace("x = ", "x = -")})
    digests.append(code("mine.Cell"))
    write(sources, {"library.py": "X = 2"})
    digests.append(code("mine.Cell"))
    assert len(set(digests)) == 3


@pytest.fixture(scope="module")
def digests(configured):
    """Every run of a seed, and the digest of its code by its name."""
    runs = all_runs(configured(seeds=[0], overrides=JOINED))
    forget()
    return runs, {run.id: code_of(run) for run in runs}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The root of a copy of the library."""
    root = tmp_path_factory.mktemp("copied")
    shutil.copytree(ROOT / "hidden_dynamics", root / "hidden_dynamics", ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture
def touched(digests, library, monkeypatch):
    """Makes edits in a copy of the library, tells the runs that they touch, and takes them back."""
    monkeypatch.setattr(digest, "ROOT", library)
    monkeypatch.chdir(library)
    runs, before = digests

    def made(*edits: tuple[str, str, str]) -> list[Run]:
        originals = {}
        for file, old, new in edits:
            path = library / "hidden_dynamics" / file
            text = path.read_text(encoding="utf-8")
            assert old in text, f"{file} has no {old!r} any more"
            originals.setdefault(path, text)
            path.write_text(text.replace(old, new), encoding="utf-8")
        forget()
        changed = [run for run in runs if code_of(run) != before[run.id]]
        for path, text in originals.items():
            path.write_text(text, encoding="utf-8")
        return changed

    yield made
    forget()


FILTERS = "models/momentum/filters.py"
JOINED = {"tasks": {"mnist": {"models": {"nag_lstm": {"sizes": [128], "hyperparameters": {"s": 0.6}}}}}}


@pytest.mark.parametrize("change", CHANGES, ids=[change.what for change in CHANGES])
def test_a_changed_behaviour_touches_just_the_runs_that_it_reaches(touched, digests, change):
    runs, _ = digests
    reached = {run.id for run in runs if change.reaches(run.task, run.model)}
    assert {run.id for run in touched((change.file, change.old, change.new))} == reached


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("training/reported.py", "training/decided.py"),
        ("tasks/schedule.py", "training/deep/order_of_batches.py"),
        ("models/momentum", "models/recurrent/input_filters"),
    ],
)
def test_a_module_or_a_package_that_moves_with_its_imports_touches_no_run(touched, library, old, new):
    names = [f"hidden_dynamics.{path.removesuffix('.py').replace('/', '.')}" for path in (old, new)]
    root = library / "hidden_dynamics"
    shutil.copytree(root, library / "before")
    (root / new).parent.mkdir(exist_ok=True)
    shutil.move(root / old, root / new)
    for path in root.rglob("*.py"):
        path.write_text(
            re.sub(rf"{re.escape(names[0])}\b", names[1], path.read_text(encoding="utf-8")), encoding="utf-8"
        )
    try:
        assert touched() == []
        assert names[0] not in "".join(path.read_text(encoding="utf-8") for path in root.rglob("*.py"))
    finally:
        shutil.rmtree(root)
        shutil.move(library / "before", root)


def test_wording_keeping_of_states_and_rendering_touch_no_run(touched):
    """All at once: one that touches a run is found by leaving out the others."""
    edits = [
        (FILTERS, '"""v_t = mu v_{t-1} + s g_t', '"""In other words: v_t = mu v_{t-1} + s g_t'),
        (FILTERS, "class Momentum(nn.Module):", "# a comment\n\n\nclass Momentum(\n    nn.Module,\n):"),
        ("tasks/images.py", "image / levels", "image"),  # a docstring
        ("training/checkpoint.py", "SECONDS = 60.0", "SECONDS = 30.0"),
        ("training/interruption.py", "signal.SIGTERM, signal.SIGINT", "signal.SIGTERM"),
        ("system/files.py", "os.fsync(handle.fileno())", "pass"),
        ("training/progress.py", ":.4g", ":.5g"),
        ("artifacts/notes.py", "def ", "def renamed_"),
    ]
    assert touched(*edits) == []
