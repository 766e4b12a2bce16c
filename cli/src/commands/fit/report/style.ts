// The report's look: quiet, readable in light and dark and in print.

export const style = `
:root { color-scheme: light dark; --ink: #222222; --paper: #ffffff; --quiet: #595959; --line: #d9d9d9; --bar: #dfe8f0; --alarm: #a33000; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #17181a; --quiet: #a8a8a8; --line: #3a3c40; --bar: #2c3a47; --alarm: #ff9d6b; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 32px 20px 48px; }
h1 { font-size: 24px; margin: 0 0 8px; }
h2 { font-size: 17px; margin: 32px 0 4px; }
h3 { font-size: 15px; margin: 20px 0 4px; }
p, footer { color: var(--quiet); margin: 0 0 12px; }
.warnings { border-left: 3px solid var(--alarm); margin: 16px 0; padding: 4px 0 4px 28px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 14px 4px 0; text-align: right; border-bottom: 1px solid var(--line); font-weight: 400; white-space: nowrap; }
thead th { font-weight: 600; }
th:first-child { text-align: left; }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
.bar { display: inline-block; min-width: 84px; padding: 0 4px; background: linear-gradient(to right, var(--bar) var(--share), transparent 0); }
figure { margin: 0; }
/* Light to dark needs a light ground. */
.light { --ink: #222222; --paper: #ffffff; background: var(--paper); }
svg { display: block; max-width: 100%; height: auto; background: none; font-family: system-ui, sans-serif; color: var(--ink); }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 0 32px; }
details { margin: 32px 0; }
summary { cursor: pointer; font-weight: 600; }
footer { border-top: 1px solid var(--line); padding-top: 12px; font-size: 13px; }
@media print { details { display: block; } }
`;
