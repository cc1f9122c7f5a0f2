"""What several tests share: naive references and hard instances."""
