"""Load on an inference endpoint: arrivals, requests, what is counted, and the search for the largest rate. Standard library only."""
