"""HOW configurations are chosen: one module a method, and the searchers that propose to them."""
