python sft_trlparser.py --config sft_trlparser.yaml --learning_rate 2e-4 --bf16
