"""What results say, as pure functions of arrays: best values, fronts, hypervolume, quantiles, named measurements."""
