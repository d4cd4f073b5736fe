"""What is told to trackers: the journal translated, brought there while it runs and afterwards, by a process of its own."""
