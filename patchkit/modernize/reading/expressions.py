"""What the expressions of a script stand for, and what they name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from ...legacy.call_sites import called
from ...legacy.decisions import UNKNOWN
from . import kinship
from .handing import Handed, above, method_of
from .results import instance_of, results
from .script import (
    Given,
    Holder,
    OwnClass,
    Script,
    ScriptAttribute,
    ScriptCall,
    ScriptUse,
)
from .settings_files import OPENING, READERS, settings_named, settings_of
from .values import (
    Constant,
    Dictionary,
    Library,
    Loaded,
    Made,
    MadeMethod,
    Own,
    Scope,
    Several,
    Values,
    merged,
)
from .versions_asked import Asking

_TRAINER, _ARGUMENTS = "transformers.Trainer", "transformers.TrainingArguments"
TRAINING = frozenset({_TRAINER, _ARGUMENTS})
"""The classes that all trainers and their configurations derive from."""
_MODEL, _CONFIG = "transformers.PreTrainedModel", "transformers.PreTrainedConfig"
_PEFT_MODEL = "peft.PeftModel"
_PARTIAL = "functools.partial"
_CONFIGURING = ("Arguments", "Config")
HANDED = "fn_kwargs"
"""The keyword of `map` for what the function gets besides the row."""
DEEPEST = 5
"""Dictionaries within dictionaries that are looked into."""
_AS_DICTIONARY = frozenset({"asdict", "vars"})
_CHANGING = frozenset({"clear", "pop", "popitem", "setdefault", "update"})


class Expressions:
    """Evaluate expressions as far as they concern the libraries.

    Args:
        script: what is found goes there.
        known: names of the libraries, and the packages that have each, for `import *`.
    """

    def __init__(self, script: Script, known: Mapping[str, frozenset[str]]) -> None:
        self.script = script
        self.scope = Scope()
        self.stars: list[str] = []
        self.beside: dict[str, Values] = {}
        self.changed: set[int] = set()
        self.parts: dict[int, list[Holder]] = {}
        self._looked_into: set[int] = set()
        self.returned: dict[ast.AST, Values] = {}
        self.handed = Handed()
        self.held: dict[ast.AST, dict[str, Values]] = {}
        self.method_of: OwnClass | None = None
        self._methods: dict[ast.AST, Own] = {}
        self._known = known
        self._asking = Asking(script.tree, self._class_of)

    def evaluate(self, node: ast.AST | None) -> Values:
        """Return what an expression may stand for, and note what is in it."""
        if node is None:
            return ()
        method = getattr(self, f"_eval_{type(node).__name__.lower()}", None)
        if method is not None:
            values: Values = method(node)
            return values
        for child in ast.iter_child_nodes(node):
            self.evaluate(child)
        return ()

    def _eval_constant(self, node: ast.Constant) -> Values:
        return (Constant(node),)

    def _eval_unaryop(self, node: ast.UnaryOp) -> Values:
        self.evaluate(node.operand)
        return () if literal(node) is UNKNOWN else (Constant(node),)

    def _eval_name(self, node: ast.Name) -> Values:
        found = self.scope.find(node.id)
        packages = self._known.get(node.id, frozenset()) if found is None else ()
        stars = [star for star in self.stars if star.partition(".")[0] in packages]
        if stars:
            name = f"{stars[-1]}.{node.id}"
            self.script.uses.append(ScriptUse(name, node.lineno, node))
            return (Library(name),)
        return found or ()

    def _eval_attribute(self, node: ast.Attribute) -> Values:
        found: Values = ()
        parent = self.script.parents.get(node)
        is_called = isinstance(parent, ast.Call) and parent.func is node
        values = self._objects(node)
        is_read = not is_called and isinstance(node.ctx, ast.Load) and bool(values)
        is_read = is_read and not self.script.asks_first(node)
        for value in values:
            if isinstance(value, Library):
                name = f"{value.name}.{node.attr}"
                if not kinship.is_class(value.name):
                    if kinship.is_class(name) or not isinstance(parent, ast.Attribute):
                        self.script.uses.append(ScriptUse(name, node.lineno, node))
                elif is_read:
                    self.script.attributes.append(
                        ScriptAttribute(value.name, node.attr, node.lineno, node, of_class=True)
                    )
                found += (Library(name), *self.beside.get(name, ()))
            elif isinstance(value, Made):
                if is_read and not _is_own_method(value, node.attr):
                    self._read(value, node)
                later = parent if isinstance(parent, ast.Attribute) else None
                found += (*_held(value, node.attr, later), MadeMethod(value, node.attr))
                found += self._of_own(value, node.attr)
            elif isinstance(value, Dictionary) and node.attr in _CHANGING:
                self.changed.add(id(value.node))
        return found

    def _objects(self, node: ast.Attribute) -> Values:
        """Return what an attribute may be read from, also where its name alone tells that."""
        values = self.evaluate(node.value)
        owner = unmistakable().get(node.attr, "")
        is_open = all(
            isinstance(each, MadeMethod) or (isinstance(each, Constant) and each.is_none)
            for each in values
        )
        return (Made(owner),) if owner and is_open else values

    def _of_own(self, value: Made, name: str) -> Values:
        """Return what an attribute of an object of a script's own class may be.

        That is what a method sets, the literal that a field has where nobody gives it, and an
        object of the class by which a field is annotated.
        """
        if value.own is None:
            return ()
        found = self.held.get(value.own.node, {}).get(name, ())
        method = method_of(value.own.node, name)
        if method is not None and method not in self._methods:
            self._methods[method] = Own(method, is_method=not _has(method, "staticmethod"))
        if method is not None:
            is_property = _has(method, "property")
            found += self.returned.get(method, ()) if is_property else (self._methods[method],)
        field = value.own.fields.get(name)
        if field is None:
            return found
        default = default_of(field)
        if default is not None:
            return merged(found, (Constant(default, surely=False),))
        classes = self.evaluate_again(field.annotation)
        return merged(found, (made for cls in classes for made in instance_of(cls)))

    def hold(self, value: Made, name: str, values: Values) -> None:
        """Remember what an attribute of an object of a script's own class is set to."""
        if value.own is not None:
            held = self.held.setdefault(value.own.node, {})
            held[name] = merged(held.get(name, ()), values)

    def _read(self, value: Made, node: ast.Attribute) -> None:
        own = value.own is not None and node.attr in value.own.fields
        found = self.script.own_fields if own else self.script.attributes
        found.append(
            ScriptAttribute(value.class_name, node.attr, node.lineno, node, made_by=value.call)
        )

    def _eval_tuple(self, node: ast.Tuple | ast.List) -> Values:
        return (Several(tuple(self.evaluate(element) for element in node.elts)),)

    _eval_list = _eval_tuple

    def _eval_dict(self, node: ast.Dict) -> Values:
        for part in (*node.keys, *node.values):
            self.evaluate(part)
        return (Dictionary(node),)

    def _eval_subscript(self, node: ast.Subscript) -> Values:
        self.evaluate(node.slice)
        found: Values = ()
        for value in self.evaluate(node.value):
            if isinstance(value, Several) and isinstance(node.slice, ast.Constant):
                index = node.slice.value
                if isinstance(index, int) and -len(value.elements) <= index < len(value.elements):
                    found += value.elements[index]
            elif isinstance(value, Made) and value.class_name == "datasets.Dataset":
                found += (value,)
            elif isinstance(value, Loaded) and isinstance(value.content, dict):
                key = literal(node.slice)
                if isinstance(key, str) and key in value.content:
                    found += (Loaded(value.file, value.content[key]),)
            elif isinstance(value, Dictionary) and isinstance(key := literal(node.slice), str):
                # An entry may be computed of others of the same dictionary, or of itself.
                if id(value.node) in self._looked_into or len(self._looked_into) >= DEEPEST:
                    continue
                self._looked_into.add(id(value.node))
                for name, given in self._entries(value.node):
                    found = merged(found, given.values) if name == key else found
                self._looked_into.discard(id(value.node))
        return found

    def _eval_ifexp(self, node: ast.IfExp) -> Values:
        self.evaluate(node.test)
        holds, fails = self.branches_read(node.test)
        found = self.evaluate(node.body) if holds else ()
        return merged(found, self.evaluate(node.orelse) if fails else ())

    def branches_read(self, test: ast.expr) -> tuple[bool, bool]:
        """Tell which branches of a condition matter: that where it holds, and the other one."""
        for_newer = self._asking.is_for_newer(test)
        return for_newer is not False, for_newer is not True

    def _class_of(self, node: ast.expr) -> str:
        """Return the class of a library that an expression is; empty if it is none."""
        values = self.evaluate_again(node)
        named = (value.name for value in values if isinstance(value, Library))
        return next(filter(kinship.is_class, named), "")

    def _eval_boolop(self, node: ast.BoolOp) -> Values:
        found: Values = ()
        for value in node.values:
            found = merged(found, self.evaluate(value))
        return found

    def _eval_binop(self, node: ast.BinOp) -> Values:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        held = [value for value in left if isinstance(value, Dictionary)]
        if not isinstance(node.op, ast.BitOr) or not held:
            return ()
        for value in held:
            self.changed.add(id(value.node))
            for more in right:
                if isinstance(more, Dictionary):
                    self.parts.setdefault(id(value.node), []).append(more.node)
        return left

    def _eval_await(self, node: ast.Await) -> Values:
        return self.evaluate(node.value)

    def _eval_namedexpr(self, node: ast.NamedExpr) -> Values:
        values = self.evaluate(node.value)
        self.scope.names[node.target.id] = values
        return values

    def _eval_lambda(self, node: ast.Lambda) -> Values:
        outer, self.scope = self.scope, Scope(self.scope)
        self._parameters(node.args, {})
        self.evaluate(node.body)
        self.scope = outer
        return ()

    def _eval_listcomp(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Values:
        outer, self.scope = self.scope, Scope(self.scope)
        for part in node.generators:
            self.evaluate(part.iter)
            for name in ast.walk(part.target):
                if isinstance(name, ast.Name):
                    self.scope.names[name.id] = ()
            for condition in part.ifs:
                self.evaluate(condition)
        for child in ("key", "value", "elt"):
            self.evaluate(getattr(node, child, None))
        self.scope = outer
        return ()

    _eval_setcomp = _eval_generatorexp = _eval_dictcomp = _eval_listcomp

    def _parameters(self, args: ast.arguments, passed: dict[str, Values]) -> None:
        for each in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if each is not None:
                values = passed.get(each.arg, ())
                for annotated in self.evaluate(each.annotation):
                    values = values or instance_of(annotated)
                self.scope.names[each.arg] = values

    def _eval_call(self, node: ast.Call) -> Values:
        called = self.evaluate(node.func)
        given = [self._given(argument) for argument in node.args]
        keywords = dict(self._keywords(node, any(map(_is_configuration, called))))
        complete = not any(isinstance(argument, ast.Starred) for argument in node.args) and all(
            keyword.arg is not None or self._is_known(keyword.value) for keyword in node.keywords
        )
        if isinstance(node.func, ast.Name) and node.func.id == "dict" and not called:
            return (Dictionary(node),) if not node.args else ()
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super" and not called
        if is_super and self.method_of is not None:
            return (Made(self.method_of.ancestors[0], own=above(self.method_of)),)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "update":
            self.add_part(node.func.value, node)
            for argument in node.args:
                if isinstance(argument, ast.Dict):
                    self.add_part(node.func.value, argument)
        found: Values = self._of_file(node, given)
        partial: Values = ()
        if given and any(isinstance(value, Library) and value.name == _PARTIAL for value in called):
            called, given, complete = given[0].values, given[1:], False
            partial = called if not given else ()
        self._call_with_rows(node, given, keywords)
        for value in called:
            if isinstance(value, Own):
                self.script.own_calls[node] = value.node
                self.handed.over(value, given, keywords)
                self.handed.collect(value, node, keywords, self.script.parents)
            name, method, own = _target(value)
            if name:
                call = ScriptCall(name, method, node.lineno, node, keywords, given, complete, own)
                self.script.calls.append(call)
                found = merged(found, results(value, call))
            elif isinstance(value, Own):
                result = (value,) if value in partial else self.returned.get(value.node, ())
                found = merged(found, result)
        return found

    def _of_file(self, node: ast.Call, given: list[Given]) -> Values:
        """Return what is read from a file: its path, until a reader of settings has that."""
        name, folder = called(node), self.script.folder
        is_read = name in READERS
        if folder is None or not (is_read or name in OPENING):
            return ()
        if given:
            values = given[0].values
        else:
            values = self.evaluate_again(getattr(node.func, "value", None))
        paths = tuple(value for value in values if isinstance(value, Constant))
        if not is_read:
            return paths
        files = (file for path in paths if isinstance(file := literal(path.node), str))
        return tuple(Loaded(file, settings_of(folder / file)) for file in files)

    def _call_with_rows(
        self, node: ast.Call, given: list[Given], keywords: dict[str, Given]
    ) -> None:
        """Note the function that `map` calls with each row and with `fn_kwargs`."""
        handed, mapped = keywords.get(HANDED), given[0] if given else keywords.get("function")
        if handed is None or mapped is None:
            return
        (holder,) = handed.values if len(handed.values) == 1 else (None,)
        arguments = dict(self._entries(holder.node)) if isinstance(holder, Dictionary) else {}
        for value in mapped.values:
            if isinstance(value, Own):
                self.handed.over(value, [], arguments)
            elif isinstance(value, Library):
                call = ScriptCall(value.name, "", node.lineno, node, arguments, (), False)
                self.script.calls.append(call)

    def _given(self, node: ast.expr) -> Given:
        whole = node.value if isinstance(node, ast.Starred) else node
        return Given(node.lineno, node, literal(node), self.evaluate(whole))

    def _keywords(self, node: ast.Call, configures: bool) -> Iterator[tuple[str, Given]]:
        """Yield the keywords of a call.

        Args:
            node: the call.
            configures: whether it makes a configuration, so that its arguments can be moved.
        """
        for keyword in node.keywords:
            values = self.evaluate(keyword.value)
            if keyword.arg is None and self.handed.is_collected(values):
                for name, given in self._entries(values[0].node) if configures else ():
                    yield name, replace(given, holder=None)
                continue
            if keyword.arg is not None:
                given = Given(
                    keyword.lineno, keyword.value, literal(keyword.value), values, None, keyword
                )
                yield keyword.arg, given
            elif len(values) == 1 and isinstance(values[0], Dictionary):
                yield from self._entries(values[0].node)
            elif len(values) == 1 and isinstance(values[0], Loaded):
                settings, file = values[0].content, values[0].file
                for name, value in settings.items() if isinstance(settings, dict) else ():
                    yield name, Given(keyword.lineno, keyword.value, value, file=file)
            elif fields := self._fields(keyword.value):
                for name, of_class in fields.items():
                    yield name, Given(keyword.lineno, keyword.value, UNKNOWN, file=of_class)
            elif not values and self.script.folder is not None:
                # The path of the file is not written down, so the name of the settings must do.
                for file, held in settings_named(_last_of(keyword.value), self.script.folder):
                    for name, value in held.items():
                        yield name, Given(keyword.lineno, keyword.value, value, file=file)

    def _fields(self, node: ast.expr) -> dict[str, str]:
        """Return the fields of an object whose attributes are given by `**`, and its class."""
        if isinstance(node, ast.Call) and called(node) in _AS_DICTIONARY and node.args:
            node = node.args[0]
        elif not (isinstance(node, ast.Attribute) and node.attr == "__dict__"):
            return {}
        else:
            node = node.value
        own = [value.own for value in self.evaluate_again(node) if isinstance(value, Made)]
        return {name: cls.name for cls in own if cls is not None for name in cls.fields}

    def _entries(self, node: Holder, depth: int = 0) -> Iterator[tuple[str, Given]]:
        """Yield the entries of a dictionary, and those that it gets from others and later."""
        for name, value, keyword in entries(node):
            known = self.evaluate_again(value)
            if name is not None:
                yield name, Given(value.lineno, value, literal(value), known, node, keyword)
            elif len(known) == 1 and isinstance(known[0], Dictionary) and depth < DEEPEST:
                yield from self._entries(known[0].node, depth + 1)
        for part in self.parts.get(id(node), ()):
            yield from self._entries(part, depth + 1)

    def add_part(self, target: ast.expr, part: Holder) -> None:
        """Note what a dictionary gets after it was made."""
        for value in self.evaluate_again(target):
            if isinstance(value, Dictionary) and part not in self.parts.get(id(value.node), []):
                self.parts.setdefault(id(value.node), []).append(part)

    def evaluate_again(self, node: ast.expr | None) -> Values:
        """Return what an expression may stand for, and note nothing."""
        known = self.script
        self.script = Script(known.tree, parents=known.parents, folder=known.folder)
        values = self.evaluate(node)
        self.script = known
        return values

    def _is_known(self, node: ast.expr) -> bool:
        values = self.evaluate_again(node)
        (value,) = values if len(values) == 1 else (None,)
        if isinstance(value, Loaded):
            return isinstance(value.content, dict)
        return (
            isinstance(value, Dictionary)
            and not self.handed.is_collected(values)
            and id(value.node) not in self.changed
            and all(name is not None for name, _, _ in entries(value.node))
        )


def _is_configuration(value: object) -> bool:
    return isinstance(value, Library) and value.name.endswith(_CONFIGURING)


def entries(
    node: Holder,
) -> Iterator[tuple[str | None, ast.expr, ast.keyword | None]]:
    """Return the names and values of a dictionary; None for a name that is not known."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        name = _text_in(target.slice) if isinstance(target, ast.Subscript) else None
        yield name or "", node.value, None
        return
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            yield keyword.arg, keyword.value, keyword
        return
    for key, value in zip(node.keys, node.values, strict=True):
        yield _text_in(key), value, None


def _text_in(node: ast.expr | None) -> str | None:
    """Return a text that a script writes down; None for another expression."""
    text = node.value if isinstance(node, ast.Constant) else None
    return text if isinstance(text, str) else None


def default_of(node: ast.AnnAssign) -> ast.Constant | None:
    """Return the literal that is the default of a field; None if it is something else."""
    value = node.value
    if isinstance(value, ast.Call):
        named = (keyword.value for keyword in value.keywords if keyword.arg == "default")
        value = next(named, None)
    return value if isinstance(value, ast.Constant) else None


def _last_of(node: ast.expr) -> str:
    """Return the attribute or key that an expression ends in; empty for another expression.

    A call such as `OmegaConf.to_container(cfg.trainer)` and `vars(cfg.trainer)` makes a dictionary.
    """
    if isinstance(node, ast.Call):
        return _last_of(node.args[0]) if len(node.args) == 1 else ""
    if isinstance(node, ast.Subscript):
        return str(node.slice.value) if isinstance(node.slice, ast.Constant) else ""
    return node.attr if isinstance(node, ast.Attribute) else ""


def literal(node: ast.expr) -> object:
    """Return the value of a literal; `UNKNOWN` for another expression."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.JoinedStr):
        return UNKNOWN  # an exception for each of them would take most of the time
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return UNKNOWN


def _held(value: Made, name: str, later: ast.Attribute | None) -> Values:
    """Return what an attribute of a trainer or model is: its configuration, or what adapts it.

    Args:
        value: the trainer or model.
        name: the attribute.
        later: what the script reads or sets of it, if it is an attribute.
    """
    if name == "base_model" and _PEFT_MODEL in kinship.ancestors(value.class_name):
        return (Made("peft.LoraModel"),)
    if name == "config" and value.class_name in kinship.OF_TWO_MODELS:
        return (Made(kinship.OF_TWO_MODELS[value.class_name]),)
    if name == "config" and later is not None and _MODEL in kinship.ancestors(value.class_name):
        # Whether a model's own configuration has what else a script reads of it is not known.
        is_told = isinstance(later.ctx, ast.Store) or later.attr in generation_settings()
        return (Made(_CONFIG),) if is_told else ()
    if name != "args" or _TRAINER not in kinship.ancestors(value.class_name):
        return ()
    if value.call is None:
        return (Made(_ARGUMENTS),)
    arguments = (value.call.keywords.get(name), *value.call.positional)
    return tuple(
        known
        for given in arguments
        if given is not None
        for known in given.values
        if isinstance(known, Made) and _ARGUMENTS in kinship.ancestors(known.class_name)
    )


@cache
def generation_settings() -> frozenset[str]:
    """Return the settings that configurations of all models had, and have no more."""
    from ...legacy.changes import Assigned
    from ...legacy.rows import all_rows

    rows = (row for row in all_rows() if isinstance(row, Assigned) and row.beside)
    return frozenset(row.name for row in rows if _CONFIG in row.owners)


@cache
def unmistakable() -> Mapping[str, str]:
    """Return attributes that scripts read from objects of one class alone, and that class."""
    from ...legacy.changes import Attribute
    from ...legacy.rows import all_rows

    rows = (row for row in all_rows() if isinstance(row, Attribute) and row.is_unmistakable)
    return {row.name: row.owners[0] for row in rows}


def _target(value: object) -> tuple[str, str, OwnClass | None]:
    """Return what is called: a name with dots, a method, and the script's own class."""
    if isinstance(value, Library):
        place, _, last = value.name.rpartition(".")
        if kinship.is_class(value.name):
            return value.name, "__init__", None
        if place and kinship.is_class(place):
            return place, last, None
        return value.name, "", None
    if isinstance(value, MadeMethod) and not _is_own_method(value.instance, value.name):
        own = value.instance.own if value.name == "__init__" else None
        return value.instance.class_name, value.name, own
    if isinstance(value, Made):
        return value.class_name, "__call__", None
    if isinstance(value, Own) and value.cls is not None:
        return value.cls.ancestors[0], "__init__", value.cls
    return "", "", None


def _has(method: ast.FunctionDef, decorator: str) -> bool:
    return any(getattr(each, "id", "") == decorator for each in method.decorator_list)


def _is_own_method(value: Made, name: str) -> bool:
    """Tell whether a method of an object is one that the script defines."""
    return value.own is not None and name in value.own.methods
