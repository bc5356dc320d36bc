"""Many ports on one page: `ports` reads which, `running` runs each within its budget, pages show what came of it."""
