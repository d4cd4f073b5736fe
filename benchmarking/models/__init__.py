"""Models for endpoints: made or found, exported, compared with torch, and packaged as Triton loads them."""
