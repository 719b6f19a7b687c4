# nothing but this
