# CPO with the SimPO loss.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import CPOConfig, CPOTrainer

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2-0.5B-Instruct")
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2-0.5B-Instruct")
train_dataset = load_dataset("Intel/orca_dpo_pairs", split="train")


def process(row):
    messages = [{"role": "system", "content": row["system"]}, {"role": "user", "content": row["question"]}]
    row["prompt"] = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    row["chosen"] = row["chosen"] + "<|im_end|>\n"
    row["rejected"] = row["rejected"] + "<|im_end|>\n"
    return row


train_dataset = train_dataset.map(process, remove_columns=["system", "question"])

training_args = CPOConfig(
    output_dir="qwen2-simpo",
    loss_type="simpo",
    cpo_alpha=0.0,
    simpo_gamma=0.5,
    beta=2.0,
    max_length=256,
    max_prompt_length=128,
    max_completion_length=128,
    per_device_train_batch_size=4,
    learning_rate=1e-6,
    max_steps=5,
    logging_steps=1,
    label_pad_token_id=-100,
    truncation_mode="keep_end",
    report_to="none",
)
trainer = CPOTrainer(model=model, args=training_args, train_dataset=train_dataset, tokenizer=tokenizer)
trainer.train()
