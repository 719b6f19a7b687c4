print("a\x00b\x1b[31mred\x1b[0m\rc\x08")
raise ValueError("\x1b[31mred\x1b[0m\x00")
