"""SageMaker Experiments as the emulator keeps them: experiments, trials, their components, and the metrics of these."""
