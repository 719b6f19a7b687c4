open("/no/such/file")
