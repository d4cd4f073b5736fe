"""How AWS is called: clients, queue of calls, rate limit, retries, errors."""
