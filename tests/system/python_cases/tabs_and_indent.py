if True:
	def f():
		return   1  +  "a"
	f()
