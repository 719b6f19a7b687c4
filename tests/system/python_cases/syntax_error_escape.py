x = "\N{no such name at all}"
