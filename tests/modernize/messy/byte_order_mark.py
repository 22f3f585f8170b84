# größe
from transformers import AutoModelForCausalLM, AdamW
model = AutoModelForCausalLM.from_pretrained('gpt2', load_in_8bit=True, use_auth_token='ü')
optimizer = AdamW(model.parameters(), lr=1e-5)
