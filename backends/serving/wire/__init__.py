"""HTTP/1.1 on the loopback as front and servers speak it: small, on asyncio's transports, without streams between."""
