import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import { type HostName, type HostRow, hosts } from '../../../src/hosts/registry.ts';
import { textDialects } from '../../kit/dialects.ts';
import { clients, everyPlan } from '../../kit/five-turns.ts';
import { nothingIssued } from '../../kit/strict/vendors.ts';
import { converse, pairs, rows, type VendorRow } from './converse.ts';

// What a client loses at a host, as the conversations show it that try each thing that a client may send.

/** What of a client's requests doesn't reach a host; `refused` if the host refuses one of them. */
interface Outcome {
  readonly refused: string | undefined;
  readonly lost: readonly string[];
}

const sentences: Readonly<Record<string, RegExp>> = {
  pictures: /\[image: this model takes no pictures\]/,
  'pictures of other types': /\[image: (?:this model takes only|only JPEG)/,
  'pictures by address': /\[image: (?:this host reads no addresses|its address)/,
  documents: /\[document[ ,:]/,
  'the place of later system messages': /<system>/,
  'the beginning of an answer': /Go on exactly where/,
};

/** Runs each conversation once. */
export function outcomeOf(
  client: TextDialectName,
  row: VendorRow,
  { isStream }: { readonly isStream: boolean } = { isStream: false },
): Outcome {
  const lost = new Set<string>();
  let hasThoughts = false;
  let refused: string | undefined;
  for (const plan of everyPlan(clients[client])) {
    const target = { ...row, origin: 'a', issued: nothingIssued() };
    const onSent = (sent: unknown, dropped: readonly string[]) => {
      const body = JSON.stringify(sent);
      for (const name of dropped)
        if (!name.includes('[]')) lost.add(name.includes(' ') ? name : `\`${name}\``);
      for (const [name, words] of Object.entries(sentences)) if (words.test(body)) lost.add(name);
      hasThoughts ||= /I think of turn|SIG\+|U0lH|ENC\+/.test(body);
    };
    try {
      converse({ client, targets: [target, target], plan, isStream, onSent });
    } catch (cause) {
      refused ??= (cause as Error).message;
    }
  }
  if (!hasThoughts) lost.add('earlier thoughts');
  return { refused, lost: [...lost].sort() };
}

/** What every host of a client loses is in the tables above; this is what differs. */
export function renderLosses(): string {
  const outcomes = new Map(pairs.map((pair) => [keyOf(pair.client, pair), outcomeOf(pair.client, pair)]));
  const common = new Map(
    textDialects.map((client) => {
      const all = pairs
        .filter((pair) => pair.client === client)
        .map((pair) => outcomes.get(keyOf(client, pair)));
      const [first, ...others] = all;
      return [
        client,
        (first?.lost ?? []).filter((name) => others.every((other) => other?.lost.includes(name))),
      ] as const;
    }),
  );
  const cell = (client: TextDialectName, row: VendorRow): string => {
    const outcome = outcomes.get(keyOf(client, row));
    if (outcome === undefined) return 'same dialect';
    if (outcome.refused !== undefined) return 'refused';
    const own = outcome.lost.filter((name) => !common.get(client)?.includes(name));
    return own.length === 0 ? 'nothing more' : own.join(', ');
  };
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(['host', 'model', ...textDialects.map((client) => `from ${titleOf(client)}`)]),
    line(Array.from({ length: textDialects.length + 2 }, () => '---')),
    line(['all', '', ...textDialects.map((client) => (common.get(client) ?? []).join(', ') || 'nothing')]),
    ...rows.map((row) =>
      line([
        `${hostTitle(row.host)}${row.vendor.dialect === 'chat' ? '' : ` (${titleOf(row.vendor.dialect)})`}`,
        row.vendor.model,
        ...textDialects.map((client) => cell(client, row)),
      ]),
    ),
  ].join('\n');
}

function keyOf(client: TextDialectName, { name }: VendorRow): string {
  return `${client} at ${name}`;
}

function titleOf(dialect: TextDialectName): string {
  const { name } = dialects[dialect];
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function hostTitle(host: string): string {
  const row: HostRow | undefined = hosts[host as HostName];
  return row?.title ?? (host === 'local' ? 'a program on this machine' : 'any other host');
}
