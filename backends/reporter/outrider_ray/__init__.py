"""Runs as a trial what was written for Ray Tune; jobs find it on their path, beside the reporter.

    python -m outrider_ray train.py train ARGUMENTS    a function or a `Trainable` class of a file, or of a module
    python -m outrider_ray train.py ARGUMENTS          the script as it is, up to `Tuner(...).fit()` or `tune.run(...)`: that is the trial

ARGUMENTS are a file of JSON or words like `--lr=0.1`: the trainable's `config`. `training_iteration` among them says after how many reports
the trial ends, as `stop` does in Ray Tune. No cluster is connected to, and no Tuner chooses anything.
"""
