import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const read = (page: string) => readFileSync(join(root, page), 'utf8');
/** Without blocks of code, in which nothing is a link or a heading. */
const prose = (page: string) => read(page).replace(/^```[\s\S]*?^```$/gm, '');

/** The names that GitHub gives the headings of a page. */
function anchors(page: string): string[] {
  return [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test.each(pages)('%s links to files and headings that are there', (page) => {
  const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)|src(?:set)?="([^"]+)"/g)].map(
    ([, link = '', picture = '']) => link || picture,
  );
  const broken = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchors(target).includes(anchor);
  });

  expect(broken).toEqual([]);
});

test('docs/architecture.md names files and folders that are there', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const folders = sources.map((path) => `/${path}/`);
  const page = read('docs/architecture.md');
  const namesIn = (text: string) =>
    [...text.matchAll(/`([\w./-]+(?:\.tsx?|\/))`/g)].map(([, name = '']) => name);
  const missing = namesIn(page).filter((name) => {
    if (existsSync(join(root, name))) return false;
    if (name.endsWith('/')) return !folders.some((folder) => folder.endsWith(`/${name}`));
    return !sources.some((path) => path === name || path.endsWith(`/${name}`));
  });
  // Where something new goes is said by paths from src/, but for what each dialect has.
  const rows = page.slice(page.indexOf('## Where new things go'), page.indexOf('## Headers'));
  const short = namesIn(rows).filter((name) => {
    const isInDialects = sources.includes(join('dialects/chat', name));
    return !isInDialects && !existsSync(join(root, name)) && !existsSync(join(root, 'src', name));
  });

  expect(missing).toEqual([]);
  expect(short).toEqual([]);
  expect(namesIn(page).map((name) => basename(name))).toContain('handle.ts');
});

test('docs/architecture.md names what is in those files', () => {
  const rows = read('docs/architecture.md').split('## Where new things go')[1] ?? '';
  const named = [
    ...rows.matchAll(/((?:`[#\w.]+`(?:, | and )?)+)(?: \([^)]*\))? (?:in|of) `([\w./-]+\.tsx?)`/g),
  ].flatMap(([, names = '', file = '']) =>
    [...names.matchAll(/`([#\w.]+)`/g)].map(([, name = '']) => ({ name, file })),
  );
  const missing = named.filter(({ name, file }) => {
    const path = [join(root, 'src', file), join(root, file)].find((each) => existsSync(each));
    return path === undefined || !name.split('.').every((part) => readFileSync(path, 'utf8').includes(part));
  });

  expect(missing).toEqual([]);
  expect(named).toContainEqual({ name: 'capSpellings', file: 'policy/traverse/settings.ts' });
});

test('the index of decisions has each of them', () => {
  const folder = join(root, 'docs', 'decisions');
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const decisions = readdirSync(folder).filter((name) => name !== 'README.md');

  expect(decisions.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});
