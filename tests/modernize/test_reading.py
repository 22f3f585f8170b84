"""What a script names of the libraries."""

from __future__ import annotations

from textwrap import dedent

import pytest

from patchkit.legacy.decisions import UNKNOWN
from patchkit.modernize.errors import ScriptError
from patchkit.modernize.reading import Script, read
from patchkit.modernize.reading.expressions import Expressions


def script(text: str) -> Script:
    return read(dedent(text))


def uses(text: str) -> list[tuple[int, str]]:
    return [(use.line, use.name) for use in script(text).uses]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from trl import SFTTrainer as T\n", (1, "trl.SFTTrainer")),
        ("import trl as t\nt.SFTTrainer()\n", (2, "trl.SFTTrainer")),
        ("import trl.trainer.utils\ntrl.trainer.utils.pad()\n", (2, "trl.trainer.utils.pad")),
        ("from trl import *\nSFTTrainer()\n", (2, "trl.SFTTrainer")),
        (
            "from transformers import *\nfrom trl import *\nTrainingArguments()\n",
            (3, "transformers.TrainingArguments"),
        ),
        ("def f():\n    from trl import (\n        SFTTrainer,\n    )\n", (3, "trl.SFTTrainer")),
        (
            "from trl.trainer import utils\nutils.pad_to_length\n",
            (2, "trl.trainer.utils.pad_to_length"),
        ),
        ("import transformers.deepspeed as ds\n", (1, "transformers.deepspeed")),
    ],
)
def test_names(text: str, expected: tuple[int, str]) -> None:
    assert expected in uses(text)


def test_an_import_that_may_fail() -> None:
    found = script(
        """\
        try:
            from trl import ORPOTrainer
        except ImportError:
            ORPOTrainer = None
        ORPOTrainer(model=1)
        """
    )
    assert [use.optional for use in found.uses] == [True]
    assert [call.name for call in found.calls] == ["trl.ORPOTrainer"]


@pytest.mark.parametrize(
    ("reads", "is_told"),
    [
        ("if hasattr(m, 'framework'):\n    print(m.framework)\n", False),
        ("if m and hasattr(m, 'framework'):\n    print(m.framework)\n", False),
        ("a = m.framework if hasattr(m, 'framework') else 'pt'\n", False),
        ("a = hasattr(m, 'framework') and m.framework\n", False),
        ("if hasattr(m, 'framework'):\n    pass\nelse:\n    print(m.framework)\n", True),
        ("if hasattr(n, 'framework'):\n    print(m.framework)\n", True),
        ("a = m.framework and hasattr(m, 'framework')\n", True),
    ],
)
def test_an_attribute_that_a_script_asks_for_first(reads: str, is_told: bool) -> None:
    made = "from transformers import AutoModel\nm = AutoModel.from_pretrained('m')\n"
    assert [found.name for found in script(made + reads).attributes] == ["framework"] * is_told


def test_keywords_from_dictionaries() -> None:
    (call,) = script(
        """\
        from trl import SFTTrainer
        kwargs = dict(model="m", packing=True)
        SFTTrainer(**kwargs, **{"tokenizer": tokenizer}, max_seq_length=1)
        """
    ).calls
    assert {name: given.value for name, given in call.keywords.items()} == {
        "model": "m",
        "packing": True,
        "tokenizer": UNKNOWN,
        "max_seq_length": 1,
    }
    assert call.complete
    assert call.keywords["packing"].line == 2


def test_entries_that_are_computed_of_the_same_dictionary() -> None:
    (call,) = script(
        """\
        from trl import SFTTrainer
        row = {"text": "a"}
        row["label"] = row["label"] or row["text"]
        SFTTrainer(row["label"])
        """
    ).calls
    assert call.name == "trl.SFTTrainer"


@pytest.mark.parametrize(
    "text",
    [
        "kwargs = load()\nSFTTrainer(**kwargs)\n",
        "SFTTrainer(*arguments)\n",
        "kwargs = {}\nkwargs['packing'] = True\nSFTTrainer(**kwargs)\n",
        "kwargs = {}\nkwargs.update(other)\nSFTTrainer(**kwargs)\n",
    ],
)
def test_arguments_that_are_not_known(text: str) -> None:
    (call,) = script(f"from trl import SFTTrainer\n{text}").calls
    assert not call.complete


def test_methods_of_objects() -> None:
    found = script(
        """\
        from transformers import AutoModelForCausalLM, AutoTokenizer
        tokenizer = AutoTokenizer.from_pretrained("m")
        model = AutoModelForCausalLM.from_pretrained("m").to("cuda")
        tokenizer.apply_chat_template([], tokenize=True)
        model.generate()
        """
    )
    assert [(call.line, call.name, call.method) for call in found.calls] == [
        (2, "transformers.AutoTokenizer", "from_pretrained"),
        (3, "transformers.AutoModelForCausalLM", "from_pretrained"),
        (3, "transformers.PreTrainedModel", "to"),
        (4, "transformers.PreTrainedTokenizerBase", "apply_chat_template"),
        (5, "transformers.PreTrainedModel", "generate"),
    ]


def test_what_functions_return_and_get() -> None:
    found = script(
        """\
        from trl import ModelConfig, SFTConfig, TrlParser

        def make(): return SFTConfig("out")

        def main(model_args):
            print(make().max_seq_length, model_args.torch_dtype)

        if __name__ == "__main__":
            parser = TrlParser((SFTConfig, ModelConfig))
            _, arguments = parser.parse_args_and_config()
            main(arguments)
        """
    )
    assert [
        (attribute.line, attribute.owner, attribute.name) for attribute in found.attributes
    ] == [
        (6, "trl.SFTConfig", "max_seq_length"),
        (6, "trl.ModelConfig", "torch_dtype"),
    ]


def test_branches_are_followed_together() -> None:
    *_, call = script(
        """\
        from transformers import TrainingArguments, Trainer
        if quick:
            args = TrainingArguments("a")
        else:
            args = TrainingArguments("b")
        Trainer(args=args)
        """
    ).calls
    assert [value.call.line for value in call.keywords["args"].values] == [3, 5]


def test_classes_of_its_own() -> None:
    found = script(
        """\
        import transformers
        from dataclasses import dataclass

        @dataclass
        class Arguments(transformers.TrainingArguments):
            warmup_ratio: float = 0.1

        class Derived(Arguments): pass

        @dataclass
        class Plain:
            beta: float = 0.1
        """
    )
    assert [(kind.name, kind.ancestors[0], list(kind.fields)) for kind in found.classes] == [
        ("Arguments", "transformers.TrainingArguments", ["warmup_ratio"]),
        ("Derived", "transformers.TrainingArguments", ["warmup_ratio"]),
        ("Plain", "Plain", ["beta"]),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("print 'hello'\n", "line 1: no Python source: this is Python 2; run 2to3 over it first"),
        ("try: pass\nexcept A, e: pass\n", "line 2: no Python source: this is Python 2"),
        ("a = 1\ndef f(:\n", "line 2: no Python source: invalid syntax"),
        ("if a:\n\tb\n        c\n", "line 3: no Python source: inconsistent use of tabs"),
        ("a\0b", "no Python source: source code string cannot contain null bytes"),
    ],
)
def test_what_does_not_parse(text: str, message: str) -> None:
    with pytest.raises(ScriptError) as caught:
        read(text)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_statements_of_all_kinds() -> None:
    read(
        dedent(
            """\
            import asyncio, trl
            async def f(a: trl.SFTConfig, /, *b, c=1, **d):
                async with a as x, b: await c
                async for y in z: yield y
                return [i async for i in a if i]
            class A(trl.SFTTrainer, metaclass=type):
                x: int = 1
                def g(self): return self.tokenizer
            for i in range(3): continue
            else: pass
            while False: break
            with open(a) as (b, c): del b
            match a:
                case [trl.X, *rest]: pass
                case {"k": v, **r} if v: pass
            try: raise A from None
            except ValueError: pass
            finally: global q
            a = b = (c := 3) if d else lambda z, *y: z
            a[0], *b = c; x += 1; x: int
            print(f"{a!r:>{b}}", {**a}, {*b}, a[1:2], not a, a @ b, a < b < c)
            assert a, b
            """
        )
    )


def test_dictionaries_that_get_the_entries_of_each_other_are_read_once(monkeypatch) -> None:
    looked: list[object] = []
    entries = Expressions._entries

    def counted(self, *args):
        looked.append(args)
        assert len(looked) < 2_000
        return entries(self, *args)

    monkeypatch.setattr(Expressions, "_entries", counted)
    names = "abcdefgh"
    pairs = [f"{getting}[k] = {given}[k]\n" for getting in names for given in names]
    read("".join(f"{name} = {{'x': 1}}\n" for name in names) + "".join(pairs) + "f(**a)\n")
