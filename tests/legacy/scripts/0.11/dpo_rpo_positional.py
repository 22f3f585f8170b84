# DPO with model and reference given by position, and rpo_alpha.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer
from trl.trainer.utils import SIMPLE_CHAT_TEMPLATE

model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-160m")
ref_model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-160m")
tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-160m")
if tokenizer.pad_token is None:
    tokenizer.pad_token = tokenizer.eos_token
if tokenizer.chat_template is None:
    tokenizer.chat_template = SIMPLE_CHAT_TEMPLATE


def process(row):
    row["prompt"] = tokenizer.apply_chat_template(row["chosen"][:-1], tokenize=False)
    row["chosen"] = tokenizer.apply_chat_template([row["chosen"][-1]], tokenize=False)
    row["rejected"] = tokenizer.apply_chat_template([row["rejected"][-1]], tokenize=False)
    return row


dataset = load_dataset("trl-lib/ultrafeedback_binarized")
dataset = dataset.map(process, num_proc=1, load_from_cache_file=False)

training_args = DPOConfig(
    "dpo_ultrafeedback",
    per_device_train_batch_size=4,
    learning_rate=1e-5,
    max_steps=4,
    logging_steps=1,
    eval_strategy="no",
    max_length=256,
    max_prompt_length=64,
    precompute_ref_log_probs=False,
    generate_during_eval=False,
    dataset_num_proc=1,
    rpo_alpha=1.0,
    gradient_checkpointing=True,
    report_to="none",
)
trainer = DPOTrainer(
    model,
    ref_model,
    args=training_args,
    train_dataset=dataset["train"],
    eval_dataset=dataset["test"],
    tokenizer=tokenizer,
)
trainer.train()
