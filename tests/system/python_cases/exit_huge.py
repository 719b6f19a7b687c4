raise SystemExit(2**80)
