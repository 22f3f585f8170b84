trl sft --config sft_cli.yaml --use_cpu
