"""From submission to the end: what changes jobs, with the parts below it."""
