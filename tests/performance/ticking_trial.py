"""A script that reports once a second, PERFORMANCE_SECONDS times; standard library only, and little of it."""

import os
import time

if __name__ == "__main__":
    seconds = int(os.environ["PERFORMANCE_SECONDS"])
    begun = time.time()
    for number in range(1, seconds + 1):
        time.sleep(max(0.0, begun + number - time.time()))
        stamped = f'"st_worker_timestamp": {time.time()!r}, "st_worker_time": {time.time() - begun!r}, "st_worker_iter": {number - 1}'
        print(f'[tune-metric]: {{"loss": {1.0 / number!r}, {stamped}}}', flush=True)
