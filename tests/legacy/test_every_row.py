"""Each row of the table, given to all that read it: the layer, `modernize`, `doctor` and `explain`.

What the layer converts, `modernize` writes or remarks on, `doctor` counts and `explain` says. What
it refuses, they refuse with the same sentence. The layer is the truth.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("libcst")

from patchkit.known.answering import answered
from patchkit.known.reading import read
from patchkit.legacy import changes
from patchkit.legacy.changes import (
    Action,
    Adjusted,
    Assigned,
    AtMost,
    Attribute,
    Behaviour,
    Change,
    Columns,
    Copied,
    Default,
    Drop,
    Gone,
    Inner,
    Keyword,
    LeftOut,
    Listed,
    Moved,
    OneColumn,
    Order,
    OtherParameter,
    OtherResults,
    OwnConfiguration,
    Parameters,
    Refuse,
    Rename,
    Uncalled,
    Value,
    Wrapped,
)
from patchkit.legacy.converting.call import OldCall
from patchkit.legacy.converting.defaults import difference
from patchkit.legacy.converting.keywords import current_arguments, rename_values
from patchkit.legacy.converting.order import fitting
from patchkit.legacy.decisions import decide
from patchkit.legacy.errors import LegacyError
from patchkit.legacy.explanation import described, short_name
from patchkit.legacy.guarding import reading
from patchkit.legacy.guarding.changed import ChangedAttributes, _variables
from patchkit.legacy.guarding.former_attributes import answer_for
from patchkit.legacy.guarding.guard import GuardedMethod
from patchkit.legacy.guarding.names import Names
from patchkit.legacy.places import public_place
from patchkit.legacy.rows import all_rows
from patchkit.legacy.uses import Journal, Kind
from patchkit.legacy.versions.due import Due
from patchkit.legacy.versions.releases import releases
from patchkit.modernize.findings import ScriptFinding, ScriptOutcome
from patchkit.modernize.formats import notebook, shell
from patchkit.modernize.history import shipped
from patchkit.modernize.python import modernize
from patchkit.modernize.python.readers import Reader
from patchkit.modernize.python.rewriting import planned
from patchkit.modernize.python.settings import changes as changes_of_settings
from patchkit.modernize.wanted import ScriptWants, wanted
from patchkit.modernize.wanted.source import PythonText
from workbench.releases.findings import FindingKind, findings
from workbench.releases.history import ReleaseHistory
from workbench.releases.interface import Interface

ROWS = all_rows()
INSTALLED = {"bitsandbytes": "0.50.0", "datasets": "4.0.0", "huggingface_hub": "2.0.0"} | {
    library: known[-1] for library, known in releases().items()
}
DUE = Due(ROWS, INSTALLED.get)
VALUES = (None, False, True, 0, 1, -1, 3, -100, 0.5, "x", "auto", "apex", "float16", ["x"])
"""What rows are tried with; what a converter cannot read with the layer either is left out."""
ONE_OF_EACH_KIND = (None, True, 3, 0.5, "x", ["x"])
"""What rows are tried with that do the same with any value."""


def of(*kinds: type[Change]) -> list[Any]:
    rows = [row for row in ROWS if isinstance(row, kinds)]
    return [pytest.param(row, id=f"{index}-{_name(row)}") for index, row in enumerate(rows)]


def _name(row: Change) -> str:
    owners = getattr(row, "owners", ("",))
    return f"{owners[0]}.{getattr(row, 'name', '')}"[:60]


@dataclass
class Told:
    """What somebody says of an old spelling.

    Args:
        refusal: the sentence with which it is refused.
        arguments: the current keywords and values.
        settings: those of the configuration.
        environment: variables and values.
        kept: whether a class of patchkit's follows the value.
    """

    refusal: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    kept: bool = False


class Taken(type):
    """Configurations of the libraries, made up."""


def made_up(owner: str, monkeypatch: pytest.MonkeyPatch) -> type:
    """Return a class of a library's, with its name, in a module with its configuration."""
    library, _, name = owner.partition(".")
    module = ModuleType(f"{library}.made_up")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    configuration = name.removesuffix("Trainer") + "Config"
    for each in {name, configuration, "TrainingArguments"}:
        made = Taken(each, (), {"__module__": module.__name__, "__init__": lambda self, **k: None})
        setattr(module, each, made)
    cls: type = getattr(module, name)
    return cls


def split(row: Any) -> tuple[str, str]:
    """Return the class, or the library, that a row is about, and the method or function."""
    owner = row.owners[0]
    place, _, last = owner.rpartition(".")
    return (place, last) if last.lstrip("_")[:1].islower() else (owner, "")


def call_of(row: Any, kwargs: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> OldCall:
    owner, method = split(row)
    cls = made_up(owner if "." in owner else f"{owner}.{method}", monkeypatch)
    if method and "." in owner:
        setattr(cls, method, lambda self, **kwargs: None)
        return OldCall(GuardedMethod(cls, method), cls(), (), kwargs, Journal())
    return OldCall(GuardedMethod(cls, "__init__"), cls(), (), kwargs, Journal())


def of_layer(row: Keyword, value: Any, monkeypatch: pytest.MonkeyPatch) -> Told | None:
    """Return what the layer makes of a keyword; None for values that it never got."""
    set_before: dict[str, str] = {}
    monkeypatch.setattr(
        "patchkit.legacy.converting.keywords.set_variable",
        lambda name, said: set_before.update({name: said}),
    )
    settings: dict[str, Any] = {}
    call = call_of(row, {}, monkeypatch)
    try:
        arguments = current_arguments(call, row, value, settings)
    except LegacyError:
        (use,) = call._journal.uses()
        assert use.kind is Kind.REFUSED
        return Told(refusal=use.message.partition(". ")[2])
    except (TypeError, ValueError, AttributeError, OSError, ImportError):
        return None
    return Told("", dict(arguments), settings, set_before, bool(call.kept))


def script_of(row: Any, value: str, name: str | None = None) -> str:
    """Return a script that gives a keyword."""
    owner, method = split(row)
    library, _, _ = owner.partition(".")
    given = f"{name or row.name}={value}"
    if not method:
        call = f"{owner}({given})"
    elif "." not in owner:
        call = f"{owner}.{method}({given})"
    elif method == "__call__":
        call = f"{owner}()({given})"
    else:
        call = f"{owner}().{method}({given})"
    return f"import {library}\n{call}\n"


def of_doctor(text: str) -> ScriptWants:
    found = wanted(PythonText("train.py", text), shipped(), INSTALLED)
    assert found is not None
    return found


def counts(found: ScriptWants, sentence: str = "") -> bool:
    """Tell whether `doctor` counts something, with a sentence that refuses it."""
    if sentence:
        told = [lack.text for lack in found.lacking if str(lack.fate) == "gone"]
        told += [
            combination.because
            for combination in found.combined
            if combination.outcome is ScriptOutcome.GONE
        ]
        return any(sentence in text for text in told) and str(found.verdict) == "not"
    fixed = [lack for lack in found.lacking if str(lack.fate) == "fixed"]
    fixed += [
        combination
        for combination in found.combined
        if combination.outcome is not ScriptOutcome.GONE
    ]
    return bool(fixed)


def due_row(row: Keyword) -> Keyword | None:
    """Return a row as it is for what is installed; None if it is about older releases."""
    owner, method = split(row)
    rows = DUE.methods([owner]).get(method or "__init__")
    known = rows.keywords.get(row.name) if rows is not None else None
    return None if known is None or known.gone != row.gone else known


def written(text: str) -> Told:
    """Return what a rewritten script gives."""
    tree = ast.parse(text)
    told = Told(kept="truncating(" in text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            told.environment[ast.literal_eval(node.targets[0].slice)] = _value(node.value)
    statement = tree.body[-1]
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    for keyword in statement.value.keywords:
        assert keyword.arg is not None
        if keyword.arg == "args" and isinstance(keyword.value, ast.Call):
            told.settings = {
                str(keyword_node.arg): _value(keyword_node.value)
                for keyword_node in keyword.value.keywords
            }
        else:
            told.arguments[keyword.arg] = _value(keyword.value)
    return told


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "str":
            return str(_value(node.args[0]))
        return ast.unparse(node.func).rpartition(".")[2], {
            str(keyword_node.arg): _value(keyword_node.value) for keyword_node in node.keywords
        }
    return ast.literal_eval(node)


def is_made(value: Any) -> bool:
    """Tell whether a value is an object that a converter makes with a library."""
    return isinstance(value, tuple) or not isinstance(
        value, (bool, int, float, str, list, dict, type(None))
    )


@pytest.mark.parametrize("row", of(Keyword))
def test_keywords(row: Keyword, monkeypatch) -> None:
    due = due_row(row)
    if due is None:
        assert row.is_understood or _replaced_by_another(row)
        return
    tried = 0
    for value in VALUES if _reads_the_value(due.action) else ONE_OF_EACH_KIND:
        told = of_layer(due, value, monkeypatch)
        if told is None:
            continue
        tried += 1
        text = script_of(row, repr(value))
        result = modernize(text, DUE)
        own = [finding for finding in result.findings if f"({row.name}" in finding.old]
        _modernize_agrees(due, told, result.text, own)
        assert counts(of_doctor(text), told.refusal), (text, told)
        _settings_agree(due, value, told)
        _scan_agrees(due, told)
    assert tried or _makes_objects(due)
    unknown = modernize(script_of(row, "unknown"), DUE)
    assert any(
        f"({row.name}" in finding.old and finding.outcome is not ScriptOutcome.SILENT
        for finding in unknown.findings
    )
    _explain_agrees(row, monkeypatch)


OLDEST = Due(ROWS, lambda library: "0.0.1")


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row.owners[0]}.{row.name}") for row in OLDEST.of(Keyword)]
)
def test_current_keywords_on_older_releases(row: Keyword, monkeypatch) -> None:
    owner, method = split(row)
    known = OLDEST.methods([owner])[method or "__init__"].keywords[row.name]
    told = of_layer(known, "given", monkeypatch)
    assert told is not None
    assert row.early
    result = modernize(script_of(row, "'given'"), OLDEST)
    found = [finding for finding in result.findings if f"({row.name}=" in finding.old]
    _modernize_agrees(known, told, result.text, found)
    assert [finding.outcome for finding in found] == [ScriptOutcome.CHANGED]


def _reads_the_value(action: Action) -> bool:
    match action:
        case Rename() | Refuse() | Drop(unless=None):
            return False
    return True


def _makes_objects(row: Keyword) -> bool:
    return "Accelerator" in row.owners[0]  # its configuration is made by a class of the library


def _replaced_by_another(row: Keyword) -> bool:
    """Tell whether a later row is about the same keyword."""
    owner, method = split(row)
    rows = DUE.methods([owner]).get(method or "__init__")
    return rows is not None and row.name in rows.keywords


def _modernize_agrees(row: Keyword, told: Told, text: str, found: list[ScriptFinding]) -> None:
    assert found, text
    if told.refusal:
        assert [finding.outcome for finding in found] == [ScriptOutcome.GONE], text
        assert told.refusal in found[0].because
        return
    assert ScriptOutcome.GONE not in {finding.outcome for finding in found}, text
    if all(finding.outcome is ScriptOutcome.CHANGED for finding in found):
        now = written(text)
        assert row.name not in {**now.arguments, **now.settings} or row.name in told.settings, text
        for name, value in told.arguments.items():
            assert name in now.arguments, text
            assert is_made(value) or now.arguments[name] == value, text
        beside = _written_beside(row)
        assert now.arguments.keys() - beside == told.arguments.keys(), text
        for name, value in told.settings.items():
            assert now.settings[name] == value, text
        assert now.environment == told.environment, text


def _written_beside(row: Keyword) -> set[str]:
    """Return the keywords that a call gets by another row, so that it does what it did."""
    owner, method = split(row)
    silent = (each.silent for each in DUE.methods([owner])[method or "__init__"].behaviours)
    return {name for told in silent if told and row.name in told.given for name in told.write}


def _settings_agree(row: Keyword, value: Any, told: Told) -> None:
    owner, method = split(row)
    if method or not owner.endswith(("Config", "Arguments")):
        return
    reader = Reader(((owner,),), sets_environment=True)
    found = list(changes_of_settings({row.name: value}, reader, DUE))
    if told.kept and not found:
        return  # the trainer's own configuration has this setting
    (changed,) = found
    if told.refusal:
        assert changed.outcome is ScriptOutcome.GONE
        assert told.refusal in changed.because
    else:
        assert changed.outcome is not ScriptOutcome.GONE
        if changed.outcome is ScriptOutcome.CHANGED:
            beside = _written_beside(row)
            new = {name: each for name, each in (changed.new or {}).items() if name not in beside}
            assert new == {**told.arguments, **told.settings}
            assert dict(changed.environment) == told.environment

    if "[" not in repr(value) and row.name != "config" and not owner.startswith("peft."):
        _shell_agrees(row, value, told)


def _shell_agrees(row: Keyword, value: Any, told: Told) -> None:
    """Give a command line of a script what a file of settings was given."""
    owner, _ = split(row)
    library, _, name = owner.partition(".")
    script = f"from {library} import {name}, TrlParser\nTrlParser({name})\n"
    command = f"python train.py --{row.name} {value}\n"
    result = shell.modernize(command, DUE, lambda path: script)
    outcomes = [finding.outcome for finding in result.findings]
    assert outcomes or told.kept
    if value is None:
        return  # a word for the shell, which has a value of its own for nothing
    assert (outcomes == [ScriptOutcome.GONE]) is bool(told.refusal), result
    assert told.refusal in (result.findings[0].because if outcomes else "")
    cell = {"cell_type": "code", "source": f"!{command}", "metadata": {}, "outputs": []}
    in_notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    found = notebook.modernize(json.dumps(in_notebook), DUE, lambda path: script).findings
    assert [finding.outcome for finding in found] == outcomes


def _scan_agrees(row: Keyword, told: Told) -> None:
    """Hold the row against a release that lacks what it leads to."""
    owner, method = split(row)
    library, _, name = owner.partition(".")
    new = [*told.arguments, *told.settings]
    if method or len(new) != 1 or not library:
        return
    configuration = name.removesuffix("Trainer") + "Config"
    holder = configuration if told.settings else name
    interface = Interface({}, {name: {}, holder: {}}, {}, {holder: [], name: [owner]})
    history = ReleaseHistory(library, {"9999": interface}, lambda version, place: True)
    found = findings({library: history}, [row], {})
    lacking = [lack.text for lack in found if lack.kind is FindingKind.NO_TARGET]
    assert f"{holder} has no {new[0]}=" in lacking


def explained(error: str) -> str:
    """Return what `explain` says of an error."""
    answers = answered(read(error), INSTALLED.get).answers
    return " ".join(f"{answer.id} {answer.cause} {answer.do}" for answer in answers)


def _explain_agrees(row: Keyword, monkeypatch: pytest.MonkeyPatch) -> None:
    words = described(row)
    assert words is not None
    for error in words.errors:
        assert row.name in explained(error)
        assert decide(row).refusal in explained(error)
    told = [of_layer(row, value, monkeypatch) for value in VALUES]
    for each in told:
        if each is None:
            continue
        if each.refusal and isinstance(row.action, changes.Refuse | changes.Drop):
            assert each.refusal in words.today
        elif not each.refusal and len({*each.arguments, *each.settings, *each.environment}) == 1:
            (name,) = {*each.arguments, *each.settings, *each.environment}
            assert name in words.today


@pytest.mark.parametrize("row", of(Value))
def test_values(row: Value, monkeypatch) -> None:
    call = call_of(row, {}, monkeypatch)
    call.arguments[row.name] = row.value
    refusal = ""
    try:
        rename_values(call, [row])
    except LegacyError:
        refusal = row.instead
    assert bool(refusal) is (row.to == "")
    text = script_of(row, repr(row.value))
    result = modernize(text, DUE)
    own = [
        finding
        for finding in result.findings
        if finding.old.endswith(f"({row.name}={row.value!r})")
    ]
    assert [finding.outcome for finding in own] == [
        ScriptOutcome.GONE if refusal else ScriptOutcome.CHANGED
    ]
    assert refusal in own[0].because
    if not refusal:
        assert written(result.text).arguments == {row.name: call.arguments[row.name]}
    assert counts(of_doctor(text), refusal)
    words = described(row)
    assert words is not None
    assert (refusal or repr(row.to)) in words.today
    held = f"import {split(row)[0].partition('.')[0]}\nheld = {row.value!r}\n"
    in_variable = modernize(held + script_of(row, "held").partition("\n")[2], DUE)
    outcomes = {
        finding.outcome
        for finding in in_variable.findings
        if finding.outcome is not ScriptOutcome.SILENT
    }
    assert outcomes == {ScriptOutcome.GONE if refusal else ScriptOutcome.CHANGED}


@pytest.mark.parametrize("row", of(Moved, Gone))
def test_names(row: Moved | Gone, monkeypatch) -> None:
    found = DUE.places.find(row.name)
    assert found is not None
    names = Names(DUE.places, Journal())
    module, _, last = row.name.rpartition(".")
    text = f"from {module} import {last}\n"
    own = [finding for finding in planned(text, DUE).findings if finding.old == row.name]
    assert len(own) == 1
    words = described(row)
    assert words is not None
    for error in words.errors:
        assert words.old in explained(error)
        assert found.refusal.rstrip(".") in explained(error)
    doctor = of_doctor(text)
    if found.is_gone:
        assert found.refusal in str(names.gone(found))
        assert own[0].outcome is ScriptOutcome.GONE
        assert found.refusal in own[0].because
        assert counts(doctor, found.refusal)
        if isinstance(row, Gone):
            assert found.refusal == words.today
    else:
        place, _, name = found.place.rpartition(".")
        assert own[0].outcome is ScriptOutcome.CHANGED
        alike = found.row.alike if isinstance(found.row, Moved) else None
        written = public_place(found.place) if alike is None else alike.to
        public = written.rpartition(".")[0]
        assert own[0].new == f"from {public} import {name}"
        assert found.differs in own[0].because
        assert counts(doctor)
        if row is found.row:
            assert words.today == found.advice
            told = [lack.text for lack in doctor.lacking]
            told += [
                f"write {combination.new}; {combination.because}" for combination in doctor.combined
            ]
            assert any(
                f"write from {public} import {name}" in text or found.advice in text
                for text in told
            )
            former = ModuleType("former")
            modules = {place: former}
            if found.row.wrapped:
                wrapping = found.row.wrapped.rpartition(".")[0]
                modules[wrapping] = importlib.import_module(wrapping)
            monkeypatch.setattr(
                importlib, "import_module", lambda asked: modules.get(asked) or ModuleType("")
            )
            setattr(former, name, row)
            from patchkit.legacy.guarding.lookups import NameLookup

            value = names._find(row.name, NameLookup.READ)
            assert getattr(value, "__wrapped__", value) is row


OPERATORS = {"__add__", "__radd__", "__mul__", "__rmul__", "__eq__", "__contains__", "__bool__"}


@pytest.mark.parametrize("row", of(Attribute))
def test_attributes(row: Attribute, monkeypatch) -> None:
    if row.name.startswith("__"):
        return  # an operator, whose operands a script's text does not tell
    for owner in row.owners:
        library, _, _ = owner.partition(".")
        read = f"{owner}.{row.name}" if row.of_class else f"thing = {owner}()\nthing.{row.name}"
        refused = row.read is None
        text = f"import {library}\n{read}{'()' if refused else ''}\n"
        own = [finding for finding in planned(text, DUE).findings if row.name in finding.old]
        assert [finding.outcome is ScriptOutcome.GONE for finding in own] == [refused], text
        assert row.advice in own[0].because
        assert counts(of_doctor(text), row.advice if refused else "")
        if refused:
            cls = made_up(owner, monkeypatch)
            journal = Journal()
            answer_for(
                cls,
                {row.name: (row.differs, row.of_class, row.is_refused_method)},
                lambda instance, _, journal=journal: reading.read(instance, row, journal),
                ChangedAttributes(),
            )
            for asked in (cls(), cls) if row.is_refused_method else (cls(),):
                with pytest.raises(LegacyError):
                    getattr(asked, row.name)()
            use = journal.uses()[0]
            assert row.advice in use.message


@pytest.mark.parametrize("row", of(Assigned))
def test_assigned_attributes(row: Assigned) -> None:
    owner = row.owners[0]
    text = f"import {owner.partition('.')[0]}\nthing = {owner}()\nthing.{row.name} = given\n"
    (found,) = planned(text, DUE).findings
    assert found.outcome is ScriptOutcome.REMARKED
    assert row.advice in found.because
    assert counts(of_doctor(text))


@pytest.mark.parametrize("row", of(Default))
def test_defaults(row: Default) -> None:
    (known,) = (
        default
        for default in DUE.of(Default)
        if default.owners == row.owners and default.name == row.name
    )
    if split(row)[1]:
        return  # the defaults of methods are given back to scripts that name their releases
    text = script_of(row, "True", row.needs or "output_dir")
    silent = [
        finding
        for finding in planned(text, DUE).findings
        if finding.outcome is ScriptOutcome.SILENT
    ]
    doctor = of_doctor(text)
    told = {difference(known) in finding.because for finding in silent} | {False}
    assert (True in told) is not row.quiet
    assert any(difference(known) == told_of.text for told_of in doctor.silent) is not row.quiet


def differences(script: str) -> list[str]:
    """Return what doctor says of calls that give other results, or raise for most objects."""
    wants = of_doctor(script)
    silent = [told.text for told in wants.silent]
    return silent + [finding.because for finding in wants.combined]


def _made(silent: OtherResults | None) -> str:
    """Return the arguments of a call that a row is about because of what made them."""
    made: list[str] = []
    if silent is not None and silent.made:
        name = silent.made[0] if silent.made[0][0].islower() else f"Auto.{silent.made[0]}"
        library, _, cls = name.partition(".")
        cls = f"AutoModel{cls}" if cls.startswith("For") else cls
        library = "transformers" if library == "Auto" else library
        made.append(f"model={library}.{cls}.from_pretrained('m')")
    if silent is not None and silent.made_with:
        given = ", ".join(f"{name}={value!r}" for name, value in silent.made_with.items())
        made.append(f"peft_config=peft.LoraConfig({given})")
    return ", ".join(made)


@pytest.mark.parametrize("row", of(Behaviour))
def test_behaviours(row: Behaviour) -> None:
    owner, method = split(row)
    silent = row.silent
    needed = [*silent.only.items(), *((name, 2) for name in silent.given)][:1] if silent else []
    one = [(name, value[0] if type(value) is tuple else value) for name, value in needed]
    given = "".join(f"\n{name}={value!r}" for name, value in one) or _made(silent)
    of_object = f"{owner}()" if "." in owner else owner
    call = f"{of_object}.{method}({given})" if method else f"{owner}({given})"
    listed = "".join(
        f"{name}=[{held!r}]" for name, held in (silent.listed if silent else {}).items()
    )
    named = f"peft.{silent.named[0]}\n" if silent and silent.named else ""
    if silent is not None and silent.of_older:
        named += "peft.prepare_model_for_int8_training(m)\n"
    text = f"import peft, transformers, {owner.partition('.')[0]}\n{named}peft.LoraConfig({listed})\n{call}\n"
    told = [finding for finding in planned(text, DUE).findings if "since " in finding.because]
    if row.silent is not None and not row.silent.constructed:  # a class is told, not a call
        assert any(row.silent.told in finding.because for finding in told)
        assert any(row.silent.told in told_of for told_of in differences(text))
        if given:
            without = of_doctor(text.replace(given, "")).silent
            assert not any(row.silent.told in told_of.text for told_of in without)


GIVEN = {
    "optimizers": "(None, None)",
    "model": "transformers.AutoModelForCausalLM.from_pretrained('m', dtype='auto')",
    "args": "transformers.TrainingArguments('o')",
    "train_dataset": "datasets.load_dataset('d')",
    "tokenizer": "transformers.AutoTokenizer.from_pretrained('m')",
    "beta": "0.1",
    "loss_type": "'sigmoid'",
    "peft_config": "peft.LoraConfig()",
}
"""Arguments by the parameter that they are of."""
ALIKE = {
    "policy": "model",
    "ref_model": "model",
    "ref_policy": "model",
    "reward_model": "model",
    "eval_dataset": "train_dataset",
    "config": "args",
    "label_smoothing": "beta",
}


@pytest.mark.parametrize("row", of(Order))
def test_orders(row: Order) -> None:
    kinds = [kind if (kind := ALIKE.get(name, name)) in GIVEN else None for name in row.order]
    orders = DUE.methods(list(row.owners))["__init__"].orders
    for count in range(2, len(kinds)):
        by_layer = fitting(kinds[:count], row.today, orders)
        given = ", ".join(GIVEN.get(name or "", "unknown") for name in kinds[:count])
        text = f"import datasets, peft, transformers, trl\n{row.owners[0]}({given})\n"
        findings = planned(text, DUE).findings
        found = [finding for finding in findings if "order of the arguments" in finding.old]
        assert bool(found) is (by_layer is not None), text
        if by_layer is not None:
            for name in by_layer.order[:count]:
                assert f"{name}=…" in found[0].new
            assert counts(of_doctor(text))
            return
    raise AssertionError(f"no call is in the order {row.order}")


def scenes(row: Adjusted) -> Iterator[str]:
    """Yield scripts with a combination of arguments that a row is about."""
    action, owner = row.in_source, row.owners[0]
    match action:
        case LeftOut() if action.keyword == action.beside:
            module, _, name = action.made_by[0].rpartition(".")
            yield f"from {module} import {name}\nimport trl\n{owner}('m', {action.keyword}={name}(0))\n"
        case LeftOut():
            yield (
                "import peft, trl\nc = peft.LoraConfig()\nm = peft.get_peft_model(b, c)\n"
                f"{owner}(m, {action.keyword}=c)\n"
            )
        case Wrapped():
            yield f"import trl\ndef f(rows):\n    return [1]\n{owner}('m', {action.keyword}=f)\n"
        case OneColumn():
            yield f"import trl\n{owner}('m', train_dataset=d, {action.keyword}='text')\n"
        case AtMost():
            given = ", ".join((*action.positional, "more"))
            class_name, _, method = owner.rpartition(".")
            yield f"import transformers\n{class_name}('m').{method}({given})\n"
        case Columns():
            name = next(iter(action.names))
            yield f"import trl\nrow = {{'{name}': 1}}\n{owner}('m', train_dataset=row)\n"
        case Parameters():
            before = ", ".join(("self", *action.after))
            yield f"import transformers\nclass T({owner}):\n    def {row.name}({before}): pass\n"
        case Uncalled():
            library = owner.partition(".")[0]
            yield f"import {library}\nclass T({owner}):\n    def {row.name}(self): pass\n"
        case Copied():
            yield (
                "from transformers.models.llama.modeling_llama import LlamaAttention\n"
                "class L(LlamaAttention):\n"
                f"    def forward(self, hidden_states, {action.parameter}=None): pass\n"
            )
        case OtherParameter():
            yield (
                "import transformers\nclass C(transformers.TrainerCallback):\n"
                f"    def on_log(self, args, {action.name}=None, **kwargs): {action.name}\n"
            )
        case OwnConfiguration():
            for each in set(row.owners) - action.accepted.keys():
                yield (
                    "import transformers, trl\n"
                    f"{each}('m', args=transformers.TrainingArguments('o'))\n"
                )
        case Inner():
            module, _, name = action.made_by[0].rpartition(".")
            held = f"import trl\nfrom {module} import {name}\nr = {name}(b, c)\n"
            yield f"{held}{owner}('m', {action.keyword}=r)\n"
            yield f"{held}{owner}('m', r)\n"
        case Listed():
            loaded = "import datasets, pandas, transformers\nd = datasets.load_dataset('x')\n"
            for each in row.owners:
                class_name, _, method = each.rpartition(".")
                called = "" if method == "__call__" else f".{method}"
                if class_name.endswith("Base"):
                    yield f"{loaded}t = {class_name}.from_pretrained('m')\nt{called}(d['a'])\n"
            for function in action.functions:
                yield f"{loaded}{function}(d['a'])\n"
        case None:
            pass
        case _:  # GivenToo
            yield f"import peft\n{owner}({action.beside}=8)\n"


@pytest.mark.parametrize("row", of(Adjusted))
def test_combinations(row: Adjusted) -> None:
    texts = list(scenes(row))
    assert bool(texts) is (row.in_source is not None)
    for text in texts:
        found = [
            finding
            for finding in planned(text, DUE).findings
            if finding.outcome is not ScriptOutcome.SILENT
        ]
        assert found, text
        refusal = row.in_source.refusal if isinstance(row.in_source, Uncalled | Copied) else ""
        if refusal:
            assert found[0].outcome is ScriptOutcome.GONE
            assert refusal in found[0].because
        assert counts(of_doctor(text), refusal)


def test_all_rows_are_given() -> None:
    kinds = (Keyword, Value, Moved, Gone, Attribute, Assigned, Default, Behaviour, Order, Adjusted)
    assert {type(row) for row in ROWS} <= set(kinds)
    assert not _variables
    assert short_name("trl.SFTTrainer") == "SFTTrainer"
