"""The matrix: many ports on one page. `ports` reads which, `running` runs each within its budget, `pages` shows them."""
