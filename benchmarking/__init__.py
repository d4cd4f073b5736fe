"""HOW it is run and judged: the loop, its policy and journal, methods, data sets, workloads, analysis, export."""
