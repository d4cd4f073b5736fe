"""What a training script measures of its input pipeline: steady rates, waits, resources, the state of the machine, ceilings, the bound."""
