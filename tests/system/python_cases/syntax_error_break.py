for x in []:
    pass
break
