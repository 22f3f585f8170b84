"""A plain call does what an earlier process kept, without the session, until somebody asks more."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from patchkit.engine.kept import KeptResults
from tests import madeup_bug
from tests.engine.test_kept import EARLIER, age, cut, poisoned

from ..installed import distribution
from ..processes import python_path

MODULES = {
    "trainer": madeup_bug.SOURCE,
    "first_model": "class Net:\n    def forward(self):\n        return bug()\n\ndef bug():\n"
    "    return 'bug'\n",
    "second_model": "class Net:\n    def forward(self):\n        return 1\n",
}
WRAP = """
from patchkit.patch import Patch, Wrap

def twice(wrapped, instance, args, kwargs):
    return 2 * wrapped(*args, **kwargs)

PATCH = Patch(
    id="madeup-wrap",
    title="it is twice as much",
    affects={"madeup": ">=1"},
    changes=(Wrap("madeup.trainer:Trainer.step", twice, parameters=("size",)),),
)
"""
LOOK = """
import sys
def look():
    import madeup.trainer, madeup.first_model
    trainer = madeup.trainer.Trainer()
    return [trainer.value, trainer.step(2), madeup.first_model.Net().forward()]
def session():
    return "patchkit.engine.session" in sys.modules
def patches():
    return [name for name in sys.modules if name.startswith("patchkit_local.")]
def statuses(report):
    return {record.id: [record.status.value, record.reason] for record in report if "madeup" in record.id}
"""
IMPORTED = LOOK + "import madeup.trainer, madeup.first_model, madeup.second_model, patchkit\n"
FIXED, PLAIN = ["fixed", 4, "fixed"], ["bug", 2, "bug"]


class World:
    """A library, a folder with patches of it, and a folder for what is kept."""

    def __init__(self, folder: Path, library: Any, fresh: Callable[..., Any]) -> None:
        self.folder, self.library = folder, library
        for name, source in MODULES.items():
            library.write(name, source)
        self.patches = folder / "fixes"
        self.patches.mkdir()
        (self.patches / "rewrite.py").write_text(
            madeup_bug.patch_file("madeup-bug", target=madeup_bug.TARGET)
        )
        (self.patches / "wildcard.py").write_text(
            madeup_bug.patch_file("madeup-wild", target="madeup.*_model:*.forward")
        )
        (self.patches / "wrap.py").write_text(WRAP)
        self.cache = folder / "cache"
        self._fresh = fresh
        self.age()

    def age(self) -> None:
        """Let all files be old enough to tell their states by their times."""
        age(*self.folder.rglob("*.py"), *self.folder.rglob("METADATA"))

    def run(self, code: str, **env: str) -> Any:
        own = {
            "PYTHONPATH": python_path(self.folder),
            "PATCHKIT_PATCHES": str(self.patches),
            "PATCHKIT_CACHE": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        return self._fresh(code, env=own | env)


@pytest.fixture
def world(tmp_path: Path, library: Any, fresh: Callable[..., Any]) -> World:
    """A world in which one process has worked out everything."""
    world = World(tmp_path, library, fresh)
    code = IMPORTED + "patchkit.apply()\nresult = [look(), session()]"
    assert world.run(code) == [FIXED, True]
    return world


def test_neither_session_nor_patches_are_needed(world: World) -> None:
    code = IMPORTED + "patchkit.apply()\nresult = [session(), patches(), look(), session()]"
    assert world.run(code) == [False, [], FIXED, False]


def test_nor_where_the_library_is_imported_afterwards(world: World) -> None:
    code = LOOK + "import patchkit\npatchkit.apply()\nresult = [look(), session()]"
    assert world.run(code) == [FIXED, False]


def test_the_report_is_that_of_a_process_which_knows_nothing(world: World) -> None:
    code = (
        IMPORTED
        + """
import linecache
report = patchkit.apply()
import madeup.second_model
text = linecache.getlines(madeup.trainer.Trainer.__init__.__code__.co_filename)
result = [statuses(report), statuses(patchkit.report()), list(report.changed), look(), text]
result += [report.diff()]
patchkit.revert()
result += [look(), statuses(patchkit.report())]
patchkit.apply()
result += [look(), statuses(patchkit.report())]
"""
    )
    cold = world.run(code, PATCHKIT_CACHE="off")
    assert world.run(code) == cold
    assert cold[3] == FIXED
    assert "self.value = 'fixed'" in "".join(cold[4])
    assert cold[6] == PLAIN
    assert cold[8] == FIXED


ARGUMENTS = {
    'exclude="madeup-wrap"': ["fixed", 2, "fixed"],
    'only=["madeup-*"], dtype="fp16", preflight=False': FIXED,
    "legacy=True": FIXED,
    "patches=MORE": FIXED,
}
CHOSEN = """
from patchkit import settings
def chosen():
    layer = sys.modules.get("patchkit.legacy.layer")
    return [settings.requested_dtype(), bool(layer and layer.LAYER.wanted)]
def told(report):
    return [statuses(report), report.legacy and report.legacy.heading()]
"""


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_arguments_are_remembered(world: World, arguments: str) -> None:
    more = world.folder / "more"
    more.mkdir()
    (more / "unused.py").write_text(
        madeup_bug.patch_file("madeup-more", target="madeup.*_other:*.run")
    )
    world.age()
    begin = IMPORTED + CHOSEN + f"MORE = {str(more)!r}\nreport = patchkit.apply({arguments})\n"
    code = begin + "result = [session(), look(), chosen(), session(), told(report), chosen()]"
    first = world.run(code)
    assert (first[0], first[1]) == (True, ARGUMENTS[arguments])
    assert world.run(code) == [False, *first[1:3], False, *first[4:]]
    after = begin + "patchkit.revert()\nresult = [look(), chosen()]"
    assert world.run(after) == [PLAIN, [None, False]]
    other = IMPORTED + 'patchkit.apply(only="madeup-wrap")\nresult = [session(), look()]'
    assert world.run(other) == [True, ["bug", 4, "bug"]]


@pytest.mark.parametrize(
    ("arguments", "error"),
    {'only="nowhere-*"': "UnknownPatchError", "no_such=True": "UsageError"}.items(),
)
def test_wrong_arguments_raise_each_time(world: World, arguments: str, error: str) -> None:
    code = f"""
try:
    patchkit.apply({arguments})
except patchkit.PatchError as problem:
    result = [type(problem).__name__, look()]
"""
    for _ in range(2):
        assert world.run(IMPORTED + code) == [error, PLAIN]


def test_a_strict_call_looks_itself(world: World) -> None:
    code = IMPORTED + "patchkit.apply(strict=True)\nresult = session()"
    assert [world.run(code), world.run(code)] == [True, True]


def test_a_report_is_of_its_moment(world: World) -> None:
    code = (
        LOOK
        + """
import madeup.trainer, patchkit
report = patchkit.apply()
before = session()
import madeup.first_model
result = [before, session(), look(), statuses(report)["madeup-wild"][0]]
result += [statuses(patchkit.report())["madeup-wild"][0]]
"""
    )
    assert world.run(code) == [False, True, FIXED, "pending", "applied"]


def test_a_second_call_changes_nothing(world: World) -> None:
    code = (
        IMPORTED
        + """
patchkit.apply()
again = patchkit.apply()
result = [session(), look(), list(again.changed), look()]
"""
    )
    assert world.run(code) == [False, FIXED, [], FIXED]


@pytest.mark.parametrize("call", ["report()", "revert()", "apply(only=[])", "patched()"])
def test_functions_keep_their_patches_while_the_session_takes_over(world: World, call: str) -> None:
    """Each line of the session looks whether a function has lost what it had."""
    code = (
        IMPORTED
        + f"""
patchkit.apply()
import threading
lost, trainer = [], madeup.trainer.Trainer
def at_line(frame, event, argument):
    if trainer().value != "fixed":
        lost.append(f"{{frame.f_code.co_filename}}:{{frame.f_lineno}}")
    return at_line
def at_call(frame, event, argument):
    name = frame.f_code.co_filename
    inside = "/patchkit/engine/" in name or "/patchkit/rewrite/" in name
    return at_line if inside and "revert" not in {call!r} else None
sys.settrace(at_call)
patchkit.{call}
sys.settrace(None)
result = [session() or {call!r} == "patched()", lost[:3], look()]
"""
    )
    expected = PLAIN if call == "revert()" else FIXED
    assert world.run(code) == [True, [], expected]


CHANGES: dict[str, Callable[[World], None]] = {
    "a module": lambda world: _edit(world.library.package / "trainer.py", "= 2", "= 22"),
    "a patch": lambda world: _edit(world.patches / "rewrite.py", "it is", "it was"),
    "a helper": lambda world: _write(world.patches / "_helper.py", ""),
    "a further patch": lambda world: _write(
        world.patches / "more.py", madeup_bug.patch_file("madeup-more", target="madeup.new:f")
    ),
    "another release": lambda world: world.library.release("1.3.0"),
    "a release without the bugs": lambda world: world.library.release("0.9"),
    "patches of a distribution": lambda world: _distribution(world),
}


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def _edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    os.utime(file, (EARLIER, EARLIER + 60))


def _distribution(world: World) -> None:
    _write(world.folder / "others_fix.py", WRAP.replace("madeup-wrap", "madeup-others"))
    entry_points = {"entry_points.txt": "[patchkit.patches]\nothers = others_fix\n"}
    distribution(world.folder, "others", "1.0", **entry_points)
    age(world.folder / "others-1.0.dist-info" / "entry_points.txt")


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_differs_is_worked_out_again(world: World, change: str) -> None:
    code = IMPORTED + "patchkit.apply()\nresult = [session(), look(), statuses(patchkit.report())]"
    CHANGES[change](world)
    just_changed = world.run(code)
    world.age()
    os.utime(world.library.package / "trainer.py", (EARLIER, EARLIER + 60))
    os.utime(world.patches / "rewrite.py", (EARLIER, EARLIER + 60))
    found = world.run(code)
    cold = world.run(code, PATCHKIT_CACHE="off")
    assert just_changed == found == cold
    assert found[0]


@pytest.mark.parametrize(
    "variables", [{"PATCHKIT_DISABLE": "madeup-bug"}, {"PATCHKIT_DISABLE": "*"}]
)
def test_variables_count(world: World, variables: dict[str, str]) -> None:
    code = IMPORTED + "patchkit.apply()\nresult = [look(), statuses(patchkit.report())]"
    assert world.run(code, **variables) == world.run(code, PATCHKIT_CACHE="off", **variables)
    assert world.run(code, **variables) == world.run(code, PATCHKIT_CACHE="off", **variables)


def test_the_environment_of_the_call_counts(world: World) -> None:
    code = (
        IMPORTED
        + """
import os
patchkit.apply()
os.environ["PATCHKIT_DISABLE"] = "no-such-patch"
madeup.trainer.Trainer.step.__code__.co_filename
try:
    patchkit.report()
finally:
    result = [look(), os.environ["PATCHKIT_DISABLE"]]
"""
    )
    assert world.run(code) == [FIXED, "no-such-patch"]


def test_code_of_another_tool_is_seen_before_and_after(world: World) -> None:
    change = """
def __init__(self):
    self.value = "of another tool"
madeup.trainer.Trainer.__init__.__code__ = __init__.__code__
"""
    for code in (
        IMPORTED + change + "patchkit.apply()\n",
        IMPORTED + "patchkit.apply()\n" + change,
    ):
        code += "result = [look(), statuses(patchkit.report())['madeup-bug'][0]]"
        found = world.run(code)
        assert found[0][0] == "of another tool"
        assert found[1] in ("drifted", "overridden")
        assert found[1] == "drifted" or world.run(code, PATCHKIT_CACHE="off") == found


def test_a_copy_of_another_tool_is_seen(world: World) -> None:
    """It copies the text of a function, and puts what it made of it in its place."""
    code = (
        IMPORTED
        + """
import inspect, textwrap
patchkit.apply()
text = textwrap.dedent(inspect.getsource(madeup.trainer.Trainer.__init__))
names = {"bug": madeup.trainer.bug, "__name__": "another_tool"}
exec(compile(text, "<another tool>", "exec"), names)
madeup.trainer.Trainer.__init__ = names["__init__"]
result = [look(), statuses(patchkit.report())]
"""
    )
    cold = world.run(code, PATCHKIT_CACHE="off")
    assert cold[0] == FIXED
    assert world.run(code) == cold


def test_a_function_that_a_wildcard_finds_now_is_fixed(world: World) -> None:
    code = (
        IMPORTED
        + """
class Another:
    def forward(self):
        return bug()
"""
        + textwrap.dedent("""
import pathlib, importlib
file = pathlib.Path(madeup.__file__).with_name("third_model.py")
file.write_text("class Net:\\n    def forward(self):\\n        return bug()\\n")
importlib.invalidate_caches()
patchkit.apply()
before = session()
import madeup.third_model
result = [before, session(), "fixed" == madeup.third_model.Net().forward()]
""")
    )
    assert world.run(code) == [False, True, True]


def test_a_module_that_is_being_imported(world: World) -> None:
    world.library.write(
        "early", "import patchkit\npatchkit.apply()\nfrom .trainer import Trainer\n"
    )
    world.age()
    code = LOOK + "import madeup.early\nresult = [look(), session()]"
    assert world.run(code)[0] == FIXED
    assert world.run(code)[0] == FIXED


def test_functions_are_pickled_by_value_with_their_wrappers(world: World) -> None:
    code = (
        IMPORTED
        + """
import copyreg, pickle, marshal
patchkit.apply()
landing = [c for c in madeup.trainer.Trainer.step.__code__.co_consts if hasattr(c, "call")][0]
again = pickle.dumps(landing._around[0])
result = [pickle.loads(again).wrapper(lambda n: n, None, (3,), {}), session()]
"""
    )
    assert world.run(code) == [6, False]


def test_threads_that_ask_at_once(world: World) -> None:
    code = (
        IMPORTED
        + """
import threading
sys.setswitchinterval(1e-6)
patchkit.apply()
found = []
def ask():
    found.append([look(), statuses(patchkit.report())])
threads = [threading.Thread(target=ask) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
result = [all(one == found[0] for one in found), found[0]]
"""
    )
    same, found = world.run(code)
    assert same
    assert found[0] == FIXED
    assert {status for status, _ in found[1].values()} == {"applied"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_forks(world: World) -> None:
    code = (
        IMPORTED
        + """
import os, json
patchkit.apply()
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, json.dumps([look(), statuses(patchkit.report())]).encode())
    os._exit(0)
os.wait()
result = [json.loads(os.read(read, 9999)), [look(), session()], statuses(patchkit.report())]
"""
    )
    child, parent, report = world.run(code)
    assert child == [FIXED, report]
    assert parent == [FIXED, False]


INTERRUPTED = (
    IMPORTED
    + """
import gc, os, json, random
from patchkit.catalogue.definitions import shipped_definitions
from patchkit.engine import deferred
import patchkit.engine.remembered, patchkit.reporting.report, patchkit.engine.kept
# Or each fork would import them, and most lines that are interrupted would be theirs.
for definition in shipped_definitions():
    definition.fetch()
gc.freeze()
if BEFORE != "apply":
    patchkit.apply()
act = lambda: getattr(patchkit, ACT)()
class Stop(BaseException):
    pass
def traced(number):
    count = 0
    def at_line(frame, event, argument):
        nonlocal count
        if event == "line":
            count += 1
            if count == number:
                raise Stop
        return at_line
    def at_call(frame, event, argument):
        return at_line if "/patchkit/" in frame.f_code.co_filename else None
    sys.settrace(at_call)
    try:
        act()
        return count, False
    except Stop:
        return count, True
    finally:
        sys.settrace(None)
def in_fork(number):
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            count, stopped = traced(number)
            then = look()
            report = statuses(patchkit.report())
            after = look()
            patchkit.revert()
            reverted = look()
            patchkit.apply()
            answer = [count, stopped, then, after, {s for s, _ in report.values()} == {"applied"},
                      reverted, look()]
        except BaseException as error:
            import traceback
            answer = [traceback.format_exc()[-900:]]
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    answer = os.read(read, 99999)
    os.close(read)
    os.wait()
    return json.loads(answer)
total = in_fork(0)[0]
lines = random.Random(1).sample(range(1, total), min(MOST, total - 1))
result = [[number, *in_fork(number)] for number in lines]
"""
)


def interrupted(before: str, act: str, most: int) -> str:
    """Return a program that interrupts a call at many of its lines, each in a fork."""
    return f"BEFORE, ACT, MOST = {before!r}, {act!r}, {most}\n{INTERRUPTED}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_an_interrupted_call_changes_nothing(world: World) -> None:
    code = interrupted("apply", "apply", 60)
    outcomes = world.run(code)
    assert len(outcomes) >= 40
    for number, _, stopped, then, after, applied, reverted, again in outcomes:
        assert then in (PLAIN, FIXED), number
        assert then == PLAIN or not stopped or after == FIXED, number
        assert applied == (after == FIXED), number
        assert (reverted, again) == (PLAIN, FIXED), number


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_the_session_that_is_interrupted_takes_nothing_away(world: World) -> None:
    """Whoever interrupts a report has the patches as before, and gets the report afterwards."""
    code = interrupted("report", "report", 40)
    outcomes = world.run(code)
    assert len(outcomes) >= 40
    assert [outcome for outcome in outcomes if len(outcome) == 2] == []
    for number, _, _, then, after, applied, reverted, again in outcomes:
        assert (then, after, applied) == (FIXED, FIXED, True), number
        assert (reverted, again) == (PLAIN, FIXED), number


@pytest.mark.parametrize("damage", [cut, poisoned])
def test_a_damaged_fact_is_a_miss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[..., list[bytes]]
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    results = KeptResults(lambda: str(tmp_path))
    results.keep_fact((("a", 1), ["b"]), "a name", "another")
    results.write()
    file = Path(results.path)
    content = file.read_bytes()
    assert KeptResults(lambda: str(tmp_path)).fact("a name", "another") == (("a", 1), ["b"])
    for damaged in damage(content):
        file.write_bytes(damaged)
        assert KeptResults(lambda: str(tmp_path)).fact("a name", "another") is None


def test_processes_that_write_at_once(world: World) -> None:
    """Each adds what it knows; the file can be read, and does not need the session, afterwards."""
    code = (
        IMPORTED
        + f"""
import os
children = []
for number in range(4):
    child = os.fork()
    if child == 0:
        import importlib
        patchkit.apply().summary()
        os._exit(0 if look() == {FIXED!r} else 1)
    children.append(child)
result = [os.waitpid(child, 0)[1] for child in children]
"""
    )
    for file in (world.cache / "rewrites").iterdir():
        file.unlink()
    assert world.run(code) == [0, 0, 0, 0]
    code = IMPORTED + "patchkit.apply()\nresult = [session(), look()]"
    assert world.run(code) == [False, FIXED]
