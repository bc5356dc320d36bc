"""Many ports on one page: `ports` reads the list, `running` tests each port, and the pages show the results."""
