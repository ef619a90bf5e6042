/** The page with its generated section in its newest form; `vitest -u` writes it. Throws if it has no such section. */
export function withSection(page: string, name: string, text: string): string {
  const [start, end] = [`<!-- generated: ${name} -->\n`, '\n<!-- end -->'];
  const from = page.indexOf(start);
  const to = page.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`the page has no section ${name}`);
  return page.slice(0, from + start.length) + text + page.slice(to);
}
