"""SageMaker Experiments: experiments told to it, within its names and limits."""
