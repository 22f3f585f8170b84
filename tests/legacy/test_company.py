"""Frameworks and scripts that handle several releases themselves: the layer stays out of their way."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .company import run, write

DECLARED = """
from dataclasses import dataclass
from transformers import TrainingArguments

import sys

here = sys.modules[__name__]
MOVED = {{"warmup_steps": "warmup_ratio"}}

def move(arguments):
    arguments.warmup_steps = arguments.warmup_ratio

@dataclass
class Own(TrainingArguments):
    warmup_ratio: float = 0.5

    def __post_init__(self):
        if self.warmup_steps:
            raise ValueError("`warmup_ratio` and `warmup_steps` cannot be set at the same time")
        {moved}
        super().__post_init__()
"""
MADE = "{made}\nprint(made.warmup_steps, made.warmup_ratio)\n"


EACH = """
import importlib, json
outcomes = {{}}
for number, name in enumerate({names}):
    try:
        outcomes[name] = repr(importlib.import_module(f"{prefix}part{{number}}").found)
    except Exception as error:
        outcomes[name] = f"{{type(error).__name__}}: {{error}}"
print(json.dumps(outcomes))
"""


def outcomes(
    folder: Path, parts: dict[str, str], place: str = "script", *, layer: bool = True
) -> tuple[dict[str, str], list[str]]:
    """Run modules in one program, of the script's or of the framework's.

    Returns:
        what each has as `found`, or its error, by name, and the lines of patchkit.
    """
    files = {f"part{number}.py": text for number, text in enumerate(parts.values())}
    if place == "script":
        write(folder, files)
    program = EACH.format(names=list(parts), prefix="" if place == "script" else "frame.")
    done = run(folder, program, None if place == "script" else files, layer=layer)
    said, lines = answered(done)
    found: dict[str, str] = json.loads(said.splitlines()[-1])
    return found, lines


def answered(done) -> tuple[str, list[str]]:
    """Return what a program printed, and the lines of patchkit."""
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "patchkit" in line]


@pytest.mark.parametrize(
    "moved",
    [
        "self.warmup_steps = self.warmup_ratio",
        'self.warmup_steps = getattr(self, "warmup_ratio")',
        "move(self)",
        "here.move(self)",
        "for old, new in (('warmup_ratio', 'warmup_steps'),): setattr(self, new, getattr(self, old))",
        "for new, old in MOVED.items(): setattr(self, new, getattr(self, old))",
    ],
)
@pytest.mark.parametrize("given", ["", "warmup_ratio=0.5"])
def test_a_field_that_a_class_moves_itself_is_its_own(tmp_path, moved: str, given: str) -> None:
    script = DECLARED.format(moved=moved) + MADE.format(made=f"made = Own({given})")
    assert answered(run(tmp_path, script)) == ("0.5 0.5\n", [])


def test_a_field_that_no_method_reads_still_sets_the_one_of_today(tmp_path) -> None:
    script = DECLARED.replace("        if self.warmup_steps:\n", "        if 0:\n").format(moved="")
    said, lines = answered(run(tmp_path, script + MADE.format(made="made = Own()")))
    assert said == "0.5 0.5\n"
    assert len(lines) == 1
    assert "Own(warmup_ratio=0.5) has been gone" in lines[0]


def test_a_field_of_a_framework_is_its_own_though_no_method_reads_it(tmp_path) -> None:
    frame = DECLARED.replace("if self.warmup_steps:", "if 0:").format(moved="")
    script = """
from dataclasses import dataclass
from frame.arguments import Own

@dataclass
class Mine(Own):
    warmup_steps: float = 7

"""
    for made in ("made = Own()", "made = Mine()"):
        done = run(tmp_path, script + MADE.format(made=made), {"arguments.py": frame})
        steps = "7" if "Mine" in made else "0"
        assert answered(done) == (f"{steps} 0.5\n", [])


def test_what_a_framework_sets_on_its_own_configuration_stays_there(tmp_path) -> None:
    frame = """
from dataclasses import dataclass
from transformers import Trainer, TrainingArguments

@dataclass
class Own(TrainingArguments):
    pass

def train(cls):
    made = cls("out")
    made.evaluation_strategy = made.eval_strategy = "steps"
    return Trainer(args=made).args is made
"""
    script = """
from frame.run import Own, train
from transformers import TrainingArguments
print(train(Own))
print(train(TrainingArguments))
"""
    said, lines = answered(run(tmp_path, script, {"run.py": frame}))
    assert said == "True\nFalse\n"
    assert len(lines) == 1


PROBES = {
    "hasattr": "found = hasattr(made, 'save_safetensors')",
    "in an expression": "found = made.save_safetensors if hasattr(made, 'save_safetensors') else 1",
    "a default": "found = getattr(made, 'save_safetensors', 'default')",
    "many times": (
        "found = [hasattr(made, 'save_safetensors') for _ in range(100)]\n"
        "found += [getattr(made, 'save_safetensors', 1) for _ in range(100)]"
    ),
    "on several lines": "found = getattr(\n    made,\n    'save_safetensors',\n    None,\n)",
    "caught": "try:\n    found = made.save_safetensors\nexcept AttributeError as error:\n    found = str(error)",
    "one of several": (
        "try:\n    if True:\n        found = made.save_safetensors\n"
        "except (KeyError, AttributeError):\n    found = 'caught'"
    ),
    "suppressed": (
        "import contextlib\nfound = 0\n"
        "with contextlib.suppress(AttributeError):\n    found = made.save_safetensors"
    ),
    "any error is caught": "try:\n    found = made.save_safetensors\nexcept Exception:\n    found = 0",
    "what is listed": "found = dir(made), [getattr(made, name, 'gone') for name in dir(made)][-1]",
    "what is listed, with an own one": "made.save_safetensors = 1\nfound = dir(made)",
    "all that a class lists": (
        "listed = [getattr(TrainingArguments, name) for name in dir(TrainingArguments)]\n"
        "found = [each.__name__ for each in listed if callable(each) and each.__name__ != '__dir__']"
    ),
    "read of a class": (
        "found = 0\ntry:\n    TrainingArguments.save_safetensors\n"
        "except AttributeError as error:\n    found = str(error)"
    ),
    "a keyword": (
        "try:\n    made = TrainingArguments(evaluation_strategy='steps')\n"
        "except TypeError as error:\n    found = str(error)"
    ),
    "a keyword, to be left out": (
        "import contextlib\nfound = 0\nwith contextlib.suppress(TypeError, KeyError):\n"
        "    found = TrainingArguments(evaluation_strategy='steps').eval_strategy"
    ),
    "a parameter": (
        "import inspect\n"
        "found = 'warmup_ratio' in inspect.signature(TrainingArguments).parameters,"
        " 'warmup_ratio' in inspect.signature(made.__init__).parameters"
    ),
    "of a class": "found = hasattr(TrainingArguments, 'save_safetensors')",
    "of a module": "import transformers\nfound = hasattr(transformers, 'is_flax_available')",
    "of a module, with a default": (
        "import transformers\nfound = getattr(transformers, 'is_flax_available', None)"
    ),
    "an import": (
        "try:\n    from transformers import is_flax_available as found\n"
        "except ImportError as error:\n    found = str(error).partition('(')[0]"
    ),
    "an import that any error ends": (
        "try:\n    from transformers import is_flax_available as found\nexcept Exception:\n    found = 'none'"
    ),
    "a gone import": (
        "try:\n    from trl import PPOTrainer as found\n"
        "except ImportError as error:\n    found = str(error).partition('(')[0]"
    ),
    "a gone module": (
        "try:\n    import trl.models.modeling_value_head as found\n"
        "except ModuleNotFoundError as error:\n    found = str(error)"
    ),
    "a module that moved": (
        "try:\n    from transformers.deepspeed import found\n"
        "except ImportError as error:\n    found = str(error)"
    ),
    "where a module is": (
        "import importlib.util\nfound = importlib.util.find_spec('trl.models.modeling_value_head')"
    ),
}
MAKE = "from transformers import TrainingArguments\nmade = TrainingArguments()\n"


@pytest.mark.parametrize("place", ["script", "framework"])
def test_probes_are_answered_as_upstream_does(tmp_path: Path, place: str) -> None:
    probing = {name: f"{MAKE}{probe}\n" for name, probe in PROBES.items()}
    upstream, _ = outcomes(tmp_path, probing, place, layer=False)
    assert outcomes(tmp_path, probing, place) == (upstream, [])
    assert upstream["hasattr"] == "False"
    assert "evaluation_strategy" in upstream["a keyword"]
    assert not any("NameError" in found for found in upstream.values())


@pytest.mark.parametrize(
    "read",
    [
        "made.save_safetensors",
        "getattr(made, 'save_safetensors')",
        "[each.save_safetensors for each in [made]][0]",
        "(lambda: made.save_safetensors)()",
    ],
)
def test_what_is_needed_is_answered(tmp_path: Path, read: str) -> None:
    script = f"{MAKE}try:\n    print({read})\nexcept KeyError:\n    print('another error')\n"
    said, lines = answered(run(tmp_path, script))
    assert said == "True\n"
    assert len(lines) == 1
    assert lines[0].startswith("patchkit: train.py:5: TrainingArguments.save_safetensors has been")


GIVING_UP = {
    "raised again": "    raise",
    "another error": "    raise RuntimeError('another release is needed')",
    "the end": "    print('another release is needed')\n    sys.exit(1)",
}
ASKED = {
    "a keyword": ("TrainingArguments(evaluation_strategy='steps').eval_strategy", TypeError),
    "an attribute": ("TrainingArguments().save_safetensors", AttributeError),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("gives_up", GIVING_UP.values(), ids=list(GIVING_UP))
def test_a_handler_that_gives_up_has_no_answer_of_its_own(
    tmp_path: Path, asked: str, gives_up: str
) -> None:
    read, error = ASKED[asked]
    script = (
        "import sys\nfrom transformers import TrainingArguments\n"
        f"try:\n    print({read})\nexcept {error.__name__}:\n{gives_up}\n"
    )
    said, lines = answered(run(tmp_path, script))
    assert said in ("steps\n", "True\n")
    assert len(lines) == 1
    assert lines[0].startswith("patchkit: train.py:5: TrainingArguments")


FRAME = """
from transformers import is_flax_available, TrainingArguments

def train(**settings):
    made = TrainingArguments("out", evaluation_strategy="steps", **settings)
    return made.eval_strategy, made.save_safetensors
"""


def test_a_framework_is_told_of_in_one_line_at_the_end(tmp_path: Path) -> None:
    script = """
import sys
from frame.run import train
print(train(), train(warmup_ratio=0.5))
sys.stderr.write("the end\\n")
"""
    done = run(tmp_path, script, {"run.py": FRAME})
    said, lines = answered(done)
    assert said == "('steps', True) ('steps', True)\n"
    assert done.stderr.index("the end") < done.stderr.index("patchkit")
    assert lines == [
        "patchkit: made-frame 2.0 is for older releases in 4 places, which the legacy layer "
        "makes work: transformers.is_flax_available, TrainingArguments(evaluation_strategy=), "
        "TrainingArguments.save_safetensors, TrainingArguments(warmup_ratio=0.5)"
    ]


OVERRIDES = """
from transformers import Trainer

class Own(Trainer):
    def create_optimizer(self):
        return "own"

    def _get_train_sampler(self):
        return "sampled"
"""


def test_a_framework_whose_methods_lack_a_parameter_is_told_of_where_one_is_passed(
    tmp_path: Path,
) -> None:
    """As GLiNER's `create_optimizer`, to which Transformers passes the model under FSDP only."""
    script = "from {} import Own\ntrainer = Own(model=1)\nprint(trainer.create_optimizer())\n"
    framework = script.format("frame.run")
    said, lines = answered(run(tmp_path, framework, {"run.py": OVERRIDES}))
    assert (said, lines) == ("own\n", [])
    passed = "print(trainer._get_train_sampler(2))\n"
    said, lines = answered(run(tmp_path, framework + passed, {"run.py": OVERRIDES}))
    assert said == "own\nsampled\n"
    assert lines == [
        "patchkit: made-frame 2.0 is for older releases in 1 place, which the legacy layer "
        "makes work: Own._get_train_sampler without train_dataset"
    ]
    write(tmp_path, {"own.py": OVERRIDES})
    _, lines = answered(run(tmp_path, script.format("own")))
    assert len(lines) == 2


def test_a_report_has_a_line_for_each_framework(tmp_path: Path) -> None:
    script = """
import patchkit
from frame.run import train
train()
from transformers import TrainingArguments
TrainingArguments("out", evaluation_strategy="no")
report = patchkit.report()
print("\\n".join(report.legacy.lines()))
print(report.legacy.heading())
print([use["framework"] for use in report.to_dict()["legacy"]["uses"]])
"""
    said, _ = answered(run(tmp_path, script, {"run.py": FRAME}))
    own, of_frame, heading, frameworks = said.splitlines()
    assert own.startswith("train.py:7: TrainingArguments(evaluation_strategy=)")
    assert of_frame.startswith("made-frame 2.0 is for older releases in 3 places")
    assert heading == "old spellings work; 1 met so far"
    assert frameworks == "['made-frame', 'made-frame', 'made-frame', '']"


GONE = "trl.AutoModelForCausalLMWithValueHead has been gone since TRL 0.29.0. "
IMPORTS = {
    "from a package": "from trl import AutoModelForCausalLMWithValueHead as Gone",
    "from a gone module": (
        "from trl.models.modeling_value_head import AutoModelForCausalLMWithValueHead as Gone"
    ),
}
KEPT = """
import copy
from typing import Optional, Union
{imported}

def annotated(model: Optional[Gone], other: Union[int, Gone], third: Gone | None, last: int | Gone):
    return model

registered = {{each.__name__: each for each in (Gone, int)}}

if Gone is not None and Gone in (Gone,) and not callable(None) and repr(Gone):
    print("trains", copy.deepcopy(registered) == registered, "AutoModelForCausalLMWithValueHead" in registered)
"""
USES = {
    "subclassing": "class Mine(Gone):\n    pass",
    "calling": "Gone()",
    "an attribute": "Gone.from_pretrained('model')",
    "a probe of it": "hasattr(Gone, 'from_pretrained')",
    "setting": "Gone.mine = 1",
    "isinstance": "isinstance(1, Gone)",
    "one of several classes": "isinstance(1, (str, Gone))",
    "issubclass": "issubclass(int, Gone)",
    "issubclass of it": "issubclass(Gone, int)",
    "a class made by hand": "type('Mine', (Gone,), {})",
    "a decorator": "@Gone\ndef mine():\n    pass",
    "an item": "Gone['a']",
    "a loop": "for _ in Gone:\n    pass",
}


@pytest.mark.parametrize("imported", IMPORTS)
def test_a_gone_name_may_be_imported(tmp_path: Path, imported: str) -> None:
    script = KEPT.format(imported=IMPORTS[imported])
    said, lines = answered(run(tmp_path, script))
    assert said == "trains True True\n"
    assert len(lines) == 1
    assert lines[0].startswith("patchkit: train.py:5: trl.")
    assert " has been gone since TRL 0.29.0. " in lines[0]
    done = run(tmp_path, "import frame.ppo", {"ppo.py": script})
    assert answered(done) == ("trains True True\n", [])


@pytest.mark.parametrize("place", ["script", "framework"])
@pytest.mark.parametrize("imported", IMPORTS)
def test_a_gone_name_is_refused_where_it_is_used(tmp_path: Path, imported: str, place: str) -> None:
    using = {name: f"{IMPORTS[imported]}\n\n{use}\n" for name, use in USES.items()}
    found, lines = outcomes(tmp_path, using, place)
    assert len(lines) == (len(USES) if place == "script" else 0)
    assert found.keys() == USES.keys()
    for number, (name, error) in enumerate(found.items()):
        # Python 3.10 gives a decorator's call the line of the function.
        line = 4 if name == "a decorator" and sys.version_info < (3, 11) else 3
        assert error.startswith(f"GoneError: part{number}.py:{line}: trl."), name
        assert " has been gone since TRL 0.29.0. " in error
        assert "pip install trl==" in error


def test_a_gone_name_ends_a_script_that_uses_it(tmp_path: Path) -> None:
    done = run(tmp_path, f"{IMPORTS['from a package']}\nprint('imported')\nGone()\n")
    assert (done.stdout, done.returncode) == ("imported\n", 1)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"patchkit.legacy.errors.GoneError: train.py:4: {GONE}")


def test_an_import_is_refused_where_no_source_shows_it(tmp_path: Path) -> None:
    done = run(tmp_path, f"exec({IMPORTS['from a package']!r}, {{}})\n")
    assert done.returncode == 1
    assert f"GoneError: <string>:1: {GONE}" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("place", "gone"),
    [
        ("from a package", GONE),
        ("from a gone module", GONE.replace(GONE.split()[0], "trl.models.modeling_value_head")),
    ],
)
def test_an_import_is_refused_where_a_case_matches_it(
    tmp_path: Path, place: str, gone: str
) -> None:
    script = f"{IMPORTS[place]}\nmatch 1:\n    case Gone():\n        pass\n"
    last = run(tmp_path, script).stderr.splitlines()[-1]
    assert f"GoneError: train.py:2: {gone}" in last


def test_what_is_imported_as_a_whole_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "import trl.models.modeling_value_head\n")
    assert "GoneError: train.py:2: trl.models.modeling_value_head" in done.stderr.splitlines()[-1]


def test_a_later_probe_of_the_same_module_is_answered_as_upstream(tmp_path: Path) -> None:
    script = f"""
{IMPORTS["from a gone module"]}
import sys
print([name for name in sys.modules if "value_head" in name])
try:
    import trl.models.modeling_value_head
except ImportError as error:
    print(error)
"""
    said, _ = answered(run(tmp_path, script))
    assert said == "[]\nNo module named 'trl.models.modeling_value_head'\n"


def test_a_framework_does_without_a_part_that_needs_a_gone_name(tmp_path: Path) -> None:
    frame = {
        "ppo.py": IMPORTS["from a package"],
        "run.py": "try:\n    from . import ppo\nexcept ImportError:\n    ppo = None\nprint(ppo)\n",
    }
    assert answered(run(tmp_path, "import frame.run\n", frame)) == ("None\n", [])


def test_a_module_s_attribute_is_refused_where_it_is_read(tmp_path: Path) -> None:
    done = run(tmp_path, "import trl\ntrl.AutoModelForCausalLMWithValueHead\n")
    assert f"AttributeError: train.py:3: {GONE}" in done.stderr.splitlines()[-1]


def test_the_report_says_what_became_of_a_gone_import(tmp_path: Path) -> None:
    script = f"""
import patchkit
{IMPORTS["from a package"]}
kinds = lambda: [(use.kind.value, use.place.line) for use in patchkit.report().legacy.uses]
print(kinds())
try:
    Gone()
except patchkit.GoneError:
    print(kinds())
{IMPORTS["from a package"]}; found = lambda: Gone()
try:
    found()
except patchkit.GoneError:
    print(kinds())
"""
    said, _ = answered(run(tmp_path, script))
    assert said.splitlines() == [
        "[('imported', 4)]",
        "[('imported', 4), ('refused', 8)]",
        "[('imported', 4), ('refused', 8), ('refused', 11)]",
    ]
