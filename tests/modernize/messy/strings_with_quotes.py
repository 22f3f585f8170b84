from transformers import TrainingArguments, AutoTokenizer
name = 'it"s'
args = TrainingArguments(f"out/{name!r}/{'a' 'b'}", evaluation_strategy = "no"
  , run_name=f'''{name:>{len(name)}} "quoted" {{evaluation_strategy="no"}}'''  , hub_token=r'\d"',
    report_to = ("none"), adafactor = (False))
doc = """
TrainingArguments(evaluation_strategy="no")
"""
tok = AutoTokenizer . from_pretrained ( "a\
b" , use_auth_token = f'{name}' )
text = b'evaluation_strategy="no"', rb"\x", u"no_cuda=True"
