/** The style sheet of the API page; its hash stands in the page's content security policy. */
export const docsStyle = `
:root { --ink: #1c2620; --soft: #5c6a61; --line: #dfe6e0; --paper: #fff; --ground: #f5f8f5; --leaf: #1f7a4a;
  --get: #1f7a4a; --post: #1f5fa8; --put: #9a5b00; --ws: #7a3f9d; --bad: #b3352b;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3ebe5; --soft: #9aa9a0; --line: #2c3832; --paper: #18201c; --ground: #111815;
  --leaf: #63c48f; --get: #63c48f; --post: #79aef0; --put: #e0a84e; --ws: #c592e6; --bad: #ef8a80; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
a { color: var(--leaf); text-decoration: none; } a:hover, a:focus-visible { text-decoration: underline; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem 2rem 1.5rem; border-right: 1px solid var(--line); background: var(--paper); font-size: .875rem; }
nav .home { font-size: 1.05rem; font-weight: 700; color: var(--ink); }
nav h2 { margin: 1.5rem 0 .4rem; font-size: .75rem; letter-spacing: .04em; color: var(--soft); }
nav ul { margin: 0; padding: 0; list-style: none; } nav li a { display: flex; gap: .5rem; align-items: baseline; padding: .2rem 0; color: var(--ink); }
nav b { flex: 0 0 2.6rem; text-align: right; }
main { padding: 2.5rem clamp(1rem, 4vw, 4rem) 6rem; max-width: 66rem; }
h1 { margin: 0; font-size: 2.2rem; letter-spacing: -.02em; } h1 small { font-size: .9rem; font-weight: 500; color: var(--soft); letter-spacing: 0; }
.lead { margin: .3rem 0 0; font-size: 1.15rem; } header p { color: var(--soft); } .files a { margin-right: 1.2rem; font-family: var(--mono); font-size: .875rem; }
section > h2 { margin: 3rem 0 1rem; font-size: 1.3rem; letter-spacing: -.01em; }
article { margin: 0 0 1.25rem; padding: 1.1rem 1.4rem 1.3rem; border: 1px solid var(--line); border-radius: 10px; background: var(--paper); }
article:target { border-color: var(--leaf); }
h3 { margin: 0; font-size: 1.05rem; display: flex; flex-wrap: wrap; gap: .6rem; align-items: baseline; } h3 code { font-size: 1rem; }
article p { margin: .5rem 0 0; }
b { font: 700 .72rem/1 var(--mono); text-transform: uppercase; letter-spacing: .03em; }
h3 b { padding: .3rem .5rem; border-radius: 5px; border: 1px solid currentColor; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .ws { color: var(--ws); }
.lock { font-size: .75rem; font-weight: 600; color: var(--put); border: 1px solid currentColor; border-radius: 99px; padding: 0 .55rem; }
code { font-family: var(--mono); font-size: .875em; } .scroll { overflow-x: auto; }
table { width: 100%; margin-top: .9rem; border-collapse: collapse; font-size: .875rem; }
th { text-align: left; font-weight: 600; color: var(--soft); padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); }
td { vertical-align: top; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); } tr:last-child td { border-bottom: 0; }
td:first-child { width: 11rem; white-space: nowrap; } td:nth-child(2) { width: 17rem; } td i { margin-left: .5rem; font-size: .75rem; color: var(--soft); font-style: normal; }
.s2 { color: var(--get); font-weight: 600; } .s4, .s5 { color: var(--bad); font-weight: 600; }
@media (max-width: 56rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); } }
`;
