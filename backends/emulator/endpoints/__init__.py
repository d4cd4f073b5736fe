"""Models, endpoint configurations and endpoints: their life, and what serves behind them."""
