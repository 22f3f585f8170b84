"""Build the models that stand in for those of the Hub, in the layout of the Hub's cache.

Run it with the oldest releases: newer ones read what older ones wrote, and not the other way round.
A family that these releases do not know is left to a later call.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[3]))

from workbench.eras import rows
from workbench.eras.hub import MODELS

REVISION = "0" * 40
SIZE = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
    "initializer_range": 0.1,
}
SCORED = ("qwen2", "opt")
"""The families that reward models are made of."""
CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content']"
    " + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
HEADERS = (
    "{{ bos_token }}{% for message in messages %}{{ '<|start_header_id|>' + message['role'] +"
    " '<|end_header_id|>\\n\\n' + message['content'] + '<|eot_id|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}"
    "{% endif %}"
)
BRACKETS = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'assistant' %}"
    "{{ ' ' + message['content'] + eos_token }}{% else %}"
    "{{ '[INST] ' + message['content'] + ' [/INST]' }}{% endif %}{% endfor %}"
)
ZEPHYR = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>\\n' + message['content'] +"
    " eos_token + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"
)


def main() -> None:
    folder = Path(sys.argv[1])
    pieces = folder / "sentencepiece.model"
    if not pieces.exists():
        train_sentencepiece(pieces)
    for family, names in MODELS.items():
        sample = folder / "families" / family
        if not (sample / "model.safetensors").exists():
            shutil.rmtree(sample, ignore_errors=True)
            if not build(family, sample, pieces):
                continue
        for name in names:
            publish(sample, folder / "hub" / f"models--{name.replace('/', '--')}")


def publish(sample: Path, repository: Path) -> None:
    """Lay a model's files out as the Hub's cache has them."""
    snapshot = repository / "snapshots" / REVISION
    if not snapshot.exists():
        shutil.copytree(sample, snapshot)
    (repository / "refs").mkdir(exist_ok=True)
    (repository / "refs" / "main").write_text(REVISION)


def train_sentencepiece(path: Path) -> None:
    import sentencepiece

    path.parent.mkdir(parents=True, exist_ok=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(list(rows.texts())),
        model_prefix=str(path.with_suffix("")),
        vocab_size=800,
        model_type="bpe",
        byte_fallback=True,
        hard_vocab_limit=False,
        unk_id=0,
        bos_id=1,
        eos_id=2,
        pad_id=-1,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        minloglevel=2,
    )


def build(family: str, folder: Path, pieces: Path) -> bool:
    """Build a family's model and tokenizer; return whether these releases know the family."""
    import torch
    import transformers

    tokenizer = tokenizer_of(family, folder, pieces)
    config = config_of(family, tokenizer)
    if config is None:
        shutil.rmtree(folder, ignore_errors=True)
        return False
    torch.manual_seed(0)
    kinds: dict[str, Any] = {
        "distilbert": transformers.AutoModelForSequenceClassification,
        "roberta": transformers.AutoModelForMaskedLM,
        "t5": transformers.AutoModelForSeq2SeqLM,
    }
    model = kinds.get(family, transformers.AutoModelForCausalLM).from_config(config)
    dtype = {"llama": torch.float16, "opt": torch.float16, "phi": torch.float16}
    halves = {"mistral", "llama3", "qwen2", "qwen3", "smollm", "tinyllama"}
    model.to(torch.bfloat16 if family in halves else dtype.get(family, torch.float32))
    model.save_pretrained(folder)
    if family in SCORED:
        add_score(folder / "model.safetensors")
    return True


def add_score(file: Path) -> None:
    """Add a reward head, so that it is the same in each release, not a random one."""
    import torch
    from safetensors.torch import load_file, save_file

    weights = load_file(file)
    dtype = next(iter(weights.values())).dtype
    weights["score.weight"] = (torch.randn(1, SIZE["hidden_size"]) * 0.1).to(dtype)
    save_file(weights, file, metadata={"format": "pt"})


def config_of(family: str, tokenizer: Any) -> Any:
    import transformers

    size: dict[str, Any] = {**SIZE, "vocab_size": len(tokenizer)}
    tokens = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    small = {**size, **tokens, "tie_word_embeddings": family in ("qwen2", "qwen3", "smollm")}
    many = {name: value for name, value in size.items() if name != "num_key_value_heads"}
    if family in ("llama", "llama3", "tinyllama", "smollm"):
        return transformers.LlamaConfig(**small)
    if family == "mistral":
        return transformers.MistralConfig(**small, sliding_window=None)
    if family == "qwen2":
        return transformers.Qwen2Config(**small)
    if family == "qwen3":
        cls = getattr(transformers, "Qwen3Config", None)
        return None if cls is None else cls(**small, head_dim=16)
    if family == "phi":
        return transformers.PhiConfig(**small)
    if family == "pythia":
        return transformers.GPTNeoXConfig(**many, **tokens)
    if family == "opt":
        return transformers.OPTConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            ffn_dim=128,
            word_embed_proj_dim=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            **tokens,
        )
    if family == "gpt2":
        return transformers.GPT2Config(
            vocab_size=len(tokenizer), n_embd=64, n_layer=2, n_head=4, **tokens
        )
    if family == "distilbert":
        return transformers.DistilBertConfig(
            vocab_size=len(tokenizer), dim=64, hidden_dim=128, n_layers=2, n_heads=4
        )
    if family == "roberta":
        many["max_position_embeddings"] = 514
        return transformers.RobertaConfig(**many, type_vocab_size=1, **tokens)
    return transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=64,
        d_kv=16,
        d_ff=128,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def tokenizer_of(family: str, folder: Path, pieces: Path) -> Any:
    """Save a family's tokenizer and return it as `AutoTokenizer` gives it."""
    import transformers

    folder.mkdir(parents=True)
    if family in ("llama", "tinyllama", "mistral"):
        templates = {"tinyllama": ZEPHYR, "mistral": BRACKETS, "llama": BRACKETS}
        shutil.copyfile(pieces, folder / "tokenizer.model")
        settings: dict[str, Any] = {
            "tokenizer_class": "LlamaTokenizer",
            "add_bos_token": True,
            "add_eos_token": False,
            "bos_token": "<s>",
            "eos_token": "</s>",
            "unk_token": "<unk>",
            "pad_token": "</s>" if family == "tinyllama" else None,
            "model_max_length": 2048 if family == "tinyllama" else 10**30,
            "clean_up_tokenization_spaces": False,
            "legacy": False,
            "chat_template": templates[family],
        }
        (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2))
        fast = transformers.LlamaTokenizerFast.from_pretrained(folder)
        fast.backend_tokenizer.save(str(folder / "tokenizer.json"))
        return transformers.AutoTokenizer.from_pretrained(folder)
    if family == "t5":
        special = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
        return save_bytes(folder, special, "PreTrainedTokenizerFast", {"model_max_length": 512})
    if family in ("distilbert", "roberta"):
        special = {
            "unk_token": "[UNK]",
            "sep_token": "[SEP]",
            "pad_token": "[PAD]",
            "cls_token": "[CLS]",
            "mask_token": "[MASK]",
            "bos_token": "[CLS]",
            "eos_token": "[SEP]",
        }
        return save_bytes(folder, special, "PreTrainedTokenizerFast", {"model_max_length": 512})
    more: dict[str, Any] = {"model_max_length": 2048}
    if family in ("qwen2", "qwen3", "smollm"):
        special = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
        if family == "smollm":
            special = {"bos_token": "<|im_start|>", **special, "unk_token": "<|endoftext|>"}
        more = {"model_max_length": 32768, "chat_template": CHATML}
        return save_bytes(
            folder, special, "PreTrainedTokenizerFast", more, ("<|im_start|>", "<|im_end|>")
        )
    if family == "llama3":
        special = {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}
        more = {"model_max_length": 131072, "chat_template": HEADERS}
        return save_bytes(
            folder,
            special,
            "PreTrainedTokenizerFast",
            more,
            ("<|start_header_id|>", "<|end_header_id|>"),
            bos=True,
        )
    if family == "opt":
        special = {"bos_token": "</s>", "eos_token": "</s>", "pad_token": "<pad>"}
        return save_bytes(folder, special, "PreTrainedTokenizerFast", more, bos=True)
    special = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
    return save_bytes(folder, special, "PreTrainedTokenizerFast", more)


def save_bytes(
    folder: Path,
    special: dict[str, str],
    kind: str,
    more: dict[str, Any],
    further: tuple[str, ...] = (),
    bos: bool = False,
) -> Any:
    """Save a byte-level BPE tokenizer and return it."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    names = list(dict.fromkeys((*special.values(), *further)))
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    words.train_from_iterator(
        list(rows.texts()),
        trainers.BpeTrainer(
            vocab_size=900,
            special_tokens=names,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    if bos:
        first = special["bos_token"]
        words.post_processor = processors.TemplateProcessing(
            single=f"{first} $A",
            pair=f"{first} $A {first} $B",
            special_tokens=[(first, names.index(first))],
        )
    words.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": kind,
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
        **special,
        **more,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2))
    return transformers.AutoTokenizer.from_pretrained(folder)


if __name__ == "__main__":
    main()
