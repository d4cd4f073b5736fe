"""Jobs as processes of one machine: `runner.JobRunner`, for all back-ends whose trials run so, wherever the machine is."""
