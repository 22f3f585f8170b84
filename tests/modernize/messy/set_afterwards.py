from transformers import TrainingArguments, AutoModelForCausalLM, BitsAndBytesConfig
import torch
args = TrainingArguments("out")
args.evaluation_strategy = "no"
args.max_seq_length = 7
setattr(args, "no_cuda", True)
model = AutoModelForCausalLM.from_pretrained(
    "gpt2", torch_dtype = torch.float16, low_cpu_mem_usage=True, trust_remote_code=True,
    quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.float16),
)
if args.evaluation_strategy != "no": print(model)
del args.no_cuda
