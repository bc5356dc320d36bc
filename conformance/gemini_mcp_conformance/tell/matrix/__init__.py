"""Many ports on one page: `ports` reads which, `running` runs each within its budget, `pages` shows what came of it."""
