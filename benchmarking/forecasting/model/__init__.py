"""Laws of growth, fitted to canaries."""
