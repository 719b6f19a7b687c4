s = 'never ends
