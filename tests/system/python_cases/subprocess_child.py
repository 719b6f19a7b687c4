import subprocess, sys
r = subprocess.run([sys.executable, "-c", "import sys; print(sys.argv); sys.exit(2)"], capture_output=True, text=True)
print(r)
