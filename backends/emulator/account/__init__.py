"""What belongs to the account: identity, prices, quotas."""
