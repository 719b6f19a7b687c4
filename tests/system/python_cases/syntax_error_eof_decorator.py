# since: 3.10
@deco
