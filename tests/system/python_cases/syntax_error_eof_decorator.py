@deco
