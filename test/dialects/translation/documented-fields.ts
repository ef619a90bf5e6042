import { readFileSync } from 'node:fs';
import { type DialectName, dialects } from '../../../src/dialects/registry.ts';

/** What docs/translation.md says about one field of a request on its way to a provider of another dialect. */
export interface DocumentedField {
  /** The field's path in the client's request; `[]` stands for any element. */
  readonly field: string;
  /** When this row applies; undefined if always. */
  readonly when: string | undefined;
  readonly kind: 'carried' | 'renamed' | 'dropped' | 'refused' | 'answered';
  /** Where it is found in the provider's request; only of those that are carried or renamed. */
  readonly to: string | undefined;
  readonly note: string;
}

const titles: Record<DialectName, string> = {
  messages: 'Messages (Anthropic)',
  chat: 'Chat Completions (OpenAI)',
  responses: 'Responses (OpenAI)',
  gemini: 'Gemini (Google)',
  embeddings: 'Embeddings (OpenAI)',
  gemini_embeddings: 'Embeddings (Google)',
};

const kinds = new Set(['carried', 'renamed', 'dropped', 'refused', 'answered']);
const document = readFileSync(new URL('../../../docs/translation.md', import.meta.url), 'utf8');
const sections = new Map(
  document.split(/^## /m).map((section) => {
    const [title = '', ...lines] = section.split('\n');
    return [title, lines.filter((line) => line.startsWith('| `')).map(parseRow)] as const;
  }),
);

/** The rows of one direction. Throws if the page has no section for it. */
export function documentedFields(client: DialectName, provider: DialectName): readonly DocumentedField[] {
  const rows = sections.get(`${titles[client]} to ${titles[provider]}`);
  if (rows === undefined) throw new Error(`docs/translation.md has nothing about ${client} to ${provider}`);
  return rows;
}

/** The rows of all directions that a client's requests take. */
export function documentedFieldsOf(client: DialectName): readonly DocumentedField[] {
  return Object.keys(dialects).flatMap(
    (provider) => sections.get(`${titles[client]} to ${titles[provider as DialectName]}`) ?? [],
  );
}

function parseRow(line: string): DocumentedField {
  const cells = line.slice(2, -2).split(' | ');
  const [field = '', when = '', kind = '', to = '', note = ''] = cells.map((cell) => cell.trim());
  if (cells.length !== 5 || !kinds.has(kind)) throw new Error(`not a row of docs/translation.md: ${line}`);
  const path = unquoted(field);
  return {
    field: path,
    when: when || undefined,
    kind: kind as DocumentedField['kind'],
    to: kind === 'carried' ? path : to === '' ? undefined : unquoted(to),
    note,
  };
}

function unquoted(cell: string): string {
  return cell.replaceAll('`', '');
}

/** The top-level field that a path begins with. */
export function headOf(field: string): string {
  return field.split(/[.[]/, 1)[0] ?? field;
}
