# args: --nope
import argparse
p = argparse.ArgumentParser()
p.add_argument("--yes")
p.parse_args()
