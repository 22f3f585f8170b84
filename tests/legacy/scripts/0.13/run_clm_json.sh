python run_clm_json.py run_clm_json_args.json
