import sys
sys.stdout.close()
raise ValueError("after close")
