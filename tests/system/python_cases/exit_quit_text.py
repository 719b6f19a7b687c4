quit("gone")
