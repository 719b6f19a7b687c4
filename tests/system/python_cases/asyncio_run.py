import asyncio
async def f(x):
    await asyncio.sleep(0)
    return x * 2
async def main():
    print(await asyncio.gather(*(f(i) for i in range(4))))
    raise LookupError("async")
asyncio.run(main())
