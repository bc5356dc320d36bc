"""What a user types to reach a server: slash commands for its prompts, `@` references to its resources. Effect."""
