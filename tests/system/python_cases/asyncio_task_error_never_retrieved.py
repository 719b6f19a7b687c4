import asyncio
async def bad():
    raise ValueError("lost")
async def main():
    t = asyncio.ensure_future(bad())
    await asyncio.sleep(0.01)
    del t
asyncio.run(main())
