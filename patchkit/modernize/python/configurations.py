"""Find, make or convert the configuration that a trainer gets."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ...legacy.changes import OwnConfiguration
from ...legacy.wording import since
from ..findings import ScriptOutcome
from ..reading.kinship import ancestors
from ..reading.script import Given, ScriptCall
from ..reading.values import Made
from .calls import CallPlan
from .edits import ITSELF, span_of
from .plan import Plan
from .standin import argument_list, rendered

_ARGUMENTS = "transformers.TrainingArguments"
_TRAINER = "transformers.Trainer"
_CONFIGURED = "patchkit.replacements.configured"
_SET_AS_THEY_ARE = frozenset(
    {
        *("beta", "dataset_kwargs", "dataset_num_proc", "dataset_text_field", "eval_packing"),
        *("label_smoothing", "max_length", "model_init_kwargs", "packing"),
    }
)
"""Fields that no constructor of a configuration derives another value from."""
_THIRD = frozenset({"trl.DPOTrainer", "trl.KTOTrainer", "trl.GRPOTrainer", "trl.RLOOTrainer"})
"""Trainers whose third argument is the configuration; it is the second one of others."""
ITSELF_BEFORE = "it truncated prompts itself"
OF_TRAINING_ARGUMENTS: Mapping[str, Any] = {
    "learning_rate": 5e-5,
    "logging_steps": 500,
    "bf16": False,
    "gradient_checkpointing": False,
}
"""What `TrainingArguments` has for fields that have another default in TRL's configurations."""


class ConfigurationPlan:
    """What to do with the configuration of one trainer."""

    def __init__(self, plan: Plan, trainer: CallPlan, calls: Mapping[int, CallPlan]) -> None:
        self._plan = plan
        self._trainer = trainer
        self._calls = calls
        call = trainer.call
        names = ancestors(*(call.own.ancestors if call.own is not None else (call.name,)))
        self._name = next((name for name in names if name.startswith("trl.")), "")
        self._configuration = self._name.removesuffix("Trainer") + "Config"
        if not self._name and trainer.settings:
            self._name, self._configuration = _TRAINER, _ARGUMENTS
        rows = trainer.rows.adjusted
        self._row = next((row for row in rows if isinstance(row.in_source, OwnConfiguration)), None)

    def make(self) -> None:
        """Plan what is to be written."""
        if not self._name or _TRAINER not in ancestors(self._name):
            return
        given = self._given()
        self._keep(given)
        if given is None:
            self._make_one()
            return
        made = [value for value in given.values if isinstance(value, Made)]
        if made and len(made) == len(given.values) and all(map(self._is_written, made)):
            if all(map(self._may_complete, made)):
                for each in made:
                    assert each.call is not None
                    self._complete(each, each.call)
            elif not self._set_later(given, made):
                self._convert(given)
        elif self._trainer.settings or any(map(self._needs_own, made)):
            self._convert(given)

    def _keep(self, given: Given | None) -> None:
        """Let the trainer's class see to what no keyword says any more."""
        trainer = self._trainer.call
        plans = [self._trainer]
        for value in given.values if given is not None else ():
            if isinstance(value, Made) and value.call is not None:
                plan = self._calls.get(id(value.call.node))
                if plan is not None and self._are_same(plan.kept, plan.call, trainer):
                    plans.append(plan)
        kept = {name: source for plan in plans for name, source in plan.kept.items()}
        needed = {by for plan in plans for by, is_needed in plan.kept_by.items() if is_needed}
        for plan in plans:
            plan.is_kept = True
        for by in needed:
            function = self._plan.imports.name(by, trainer.node)
            limits = argument_list(kept)
            self._plan.wrap(trainer.node.func, f"{function}({ITSELF}, {limits})")
            new = f"{function}({self._trainer.name}, {limits})"
            self._plan.changed(trainer.node, self._trainer.name, new, ITSELF_BEFORE)

    def _given(self) -> Given | None:
        """Return the argument that is the configuration."""
        if "args" in self._trainer.keywords:
            return self._trainer.keywords["args"]
        positional = self._trainer.positional
        for given in positional:
            if any(
                isinstance(value, Made) and _is_arguments(value.class_name)
                for value in given.values
            ):
                return given
        place = 2 if self._name in _THIRD else 1
        return positional[place] if len(positional) > place else None

    def _set_later(self, given: Given, made: list[Made]) -> bool:
        """Set on a configuration what is only known where the trainer gets it, if that suffices."""
        trainer, here = self._trainer, self._trainer.call.node
        sources = dict(trainer.settings)
        outer = next(each for each in self._plan.script.around(here) if isinstance(each, ast.stmt))
        is_alone = self._plan.lines.statement(here)[:2] == span_of(outer)[:2]
        is_simple = isinstance(outer, ast.Assign | ast.Expr | ast.Return) and is_alone
        if not isinstance(given.node, ast.Name) or not is_simple:
            return False
        later = {
            name: source
            for name, source in sources.items()
            if not all(
                each.call and self._are_same({name: source}, trainer.call, each.call)
                for each in made
            )
        }
        if not later.keys() <= _SET_AS_THEY_ARE or self._plan.lines.is_local(here):
            return False
        trainer.settings = {name: sources[name] for name in sources if name not in later}
        for each in made:
            assert each.call is not None
            self._complete(each, each.call, is_set_later=bool(later))
        for name, source in later.items():
            statement = f"{given.node.id}.{name} = {source}"
            statement = f"{statement}  {trainer.take_comment(name)}".rstrip()
            self._plan.edits.before[self._plan.lines.statement(here)].append(statement)
            self._plan.changed(
                given.node, f"{trainer.name}(args=)", statement, "its value is known here"
            )
        return True

    def _is_written(self, made: Made) -> bool:
        """Tell whether the script writes the call that makes a configuration."""
        if made.call is None or not made.call.complete:
            return False
        return self._is_own(made) or (made.own is None and _public(made.class_name) == _ARGUMENTS)

    def _is_own(self, made: Made) -> bool:
        names = made.own.ancestors if made.own is not None else (made.class_name,)
        return self._configuration in ancestors(*names)

    def _needs_own(self, made: Made) -> bool:
        """Tell whether a trainer does not take a configuration of that class."""
        if self._row is None or self._is_own(made) or not _is_arguments(made.class_name):
            return False
        assert isinstance(self._row.in_source, OwnConfiguration)
        accepted = self._row.in_source.accepted.get(self._name)
        return made.own is not None or _public(made.class_name) != accepted

    def _may_complete(self, made: Made) -> bool:
        """Tell whether the settings of the trainer mean the same where a configuration is made."""
        assert made.call is not None
        return self._are_same(self._trainer.settings, self._trainer.call, made.call)

    def _are_same(self, sources: Mapping[str, str], here: ScriptCall, there: ScriptCall) -> bool:
        same = self._plan.bindings.means_the_same
        return all(same(source, here.node, there.node) for source in sources.values())

    def _complete(self, made: Made, call: ScriptCall, is_set_later: bool = False) -> None:
        """Add to the call that makes a configuration; let it make one of the trainer's class."""
        configuration = self._calls[id(call.node)]
        if not self._is_own(made):
            needs_own = is_set_later or self._needs_own(made)
            if not self._trainer.settings and not needs_own:
                return
            cls = self._plan.spell(self._configuration, call.node, self._trainer.call)
            self._plan.edits.sources[span_of(call.node.func)] = cls
            if isinstance(call.node.func, ast.Name):
                self._plan.imports.forget(call.node.func.id)
            for name, source in self._defaults().items():
                if name not in configuration.keywords:
                    configuration.put(name, source)
            old, row = f"{made.class_name.rpartition('.')[2]} for {self._trainer.name}", self._row
            because = f"it {since(row)}" if row else "it has the settings of the trainer"
            line = call.node.lineno
            self._plan.find(line, old, f"{cls}(…)", because, ScriptOutcome.CHANGED)
        for name, source in self._trainer.settings.items():
            has_lines = self._plan.lines.indentation(call.node) is not None
            comment = self._trainer.take_comment(name) if has_lines else ""
            configuration.put(name, source, comment=comment)

    def _defaults(self) -> dict[str, str]:
        """Return defaults of `TrainingArguments` that the trainer's class does not have today."""
        methods = self._plan.due.methods(ancestors(self._configuration))
        rows = methods["__init__"].defaults if "__init__" in methods else {}
        return {
            name: rendered(value)
            for name, value in OF_TRAINING_ARGUMENTS.items()
            if name in rows and rows[name].library == "trl" and rows[name].values[-1][1] != value
        }

    def _make_one(self) -> None:
        """Give a trainer a configuration that has got none."""
        trainer = self._trainer
        if not trainer.settings and not trainer.is_old:
            return
        call = trainer.call
        if not call.complete:
            if trainer.settings:
                trainer.leave()
                cls = self._configuration.partition(".")[2]
                text = f"says {argument_list(trainer.settings)} in the {cls} of its args= today"
                self._plan.remark(call.node, f"{trainer.name}(…)", text)
            return
        cls = self._plan.spell(self._configuration, call.node, call)
        settings = {"output_dir": '"tmp_trainer"', **self._defaults(), **trainer.settings}
        indent = self._plan.lines.indentation(call.node)
        if indent is None:
            source = f"{cls}({argument_list(settings)})"
        else:
            unit = "\t" if indent.startswith("\t") else "    "
            given = settings.items()
            lines = "".join(
                f"{indent}{unit}{name}={each},  {trainer.take_comment(name)}".rstrip() + "\n"
                for name, each in given
            )
            source = f"{cls}(\n{lines}{indent})"
        self._plan.edits.added[span_of(call.node)]["args"] = source
        self._plan.changed(
            call.node,
            f"{trainer.name} without args=",
            f"args={cls}(…)",
            "its settings are those of TrainingArguments, which it took then",
        )

    def _convert(self, given: Given) -> None:
        """Make the trainer's configuration of one that comes from elsewhere."""
        cls = self._plan.spell(self._configuration, given.node, self._trainer.call)
        function = self._plan.imports.name(_CONFIGURED, given.node)
        parts = [ITSELF, cls]
        if self._trainer.settings:
            parts.append(argument_list(self._trainer.settings))
        self._plan.wrap(given.node, f"{function}({', '.join(parts)})")
        self._plan.changed(
            given.node,
            f"{self._trainer.name}(args=)",
            f"args={function}(…)",
            f"its configuration is made elsewhere, and has to be of the class {cls}",
        )


def _public(name: str) -> str:
    return ancestors(name)[0]


def _is_arguments(name: str) -> bool:
    return _ARGUMENTS in ancestors(name)
