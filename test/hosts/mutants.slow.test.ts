import { expect, test } from 'vitest';
import { bareName, traitsOf } from '../../src/hosts/find-host.ts';
import { type Cells, type HostRow, hosts, localCells, modelFamilies } from '../../src/hosts/registry.ts';
import { type HostTraits, widelyAccepted } from '../../src/hosts/traits.ts';
import { pairs, rows, type VendorRow } from '../dialects/translation/converse.ts';
import { outcomeOf } from '../dialects/translation/losses.ts';

// Each cell of the table of hosts is read, and tried: with another value the conversations of some client at a vendor of
// its row are refused, or lose something else.

type Trait = keyof HostTraits;

interface Cell {
  readonly name: string;
  readonly trait: Trait;
  readonly rows: readonly VendorRow[];
}

const rowOf = (host: string): HostRow | undefined => (hosts as Readonly<Record<string, HostRow>>)[host];

function cellsOf(name: string, cells: Cells, isIts: (row: VendorRow) => boolean): Cell[] {
  const its = rows.filter(isIts);
  return (Object.keys(cells) as Trait[]).map((trait) => ({
    ...{ name: `${name}: ${trait}`, trait },
    // Where a narrower cell says otherwise, this one isn't read.
    rows: its.filter(
      ({ host, vendor }) => traitsOf({ host, targetModel: vendor.model })[trait] === cells[trait]?.[0],
    ),
  }));
}

const all: readonly Cell[] = [
  ...Object.entries<HostRow>(hosts).flatMap(([host, { cells, models = [] }]) => [
    ...cellsOf(host, cells, (row) => row.host === host),
    ...models.flatMap(({ match, cells: its }) =>
      cellsOf(`${host} ${match}`, its, (row) => row.host === host && match.test(bareName(row.vendor.model))),
    ),
  ]),
  ...cellsOf('local', localCells, ({ host }) => host === 'local'),
  ...modelFamilies.flatMap(({ name, match, cells }) =>
    cellsOf(
      name,
      cells,
      ({ host, vendor }) => rowOf(host)?.kind !== 'vendor' && match.test(bareName(vendor.model)),
    ),
  ),
];

/** Values that a cell may have instead. */
const others: { readonly [Each in Trait]: readonly HostTraits[Each][] } = {
  tokenCap: ['max_tokens', 'max_completion_tokens'],
  reasoning: ['none', 'reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'],
  needsReasoning: [false, true],
  takesEffort: [false, true],
  reasonsIn: ['chat', 'responses'],
  reasonsBesideTools: [true, false],
  thinkingSwitch: ['none', 'thinking', 'enable_thinking'],
  toolChoices: ['any', 'not_forced_while_thinking', 'not_forced', 'auto'],
  callIds: ['any', 'nine_characters'],
  hasCallIds: [true, false],
  userAfterTool: [true, false],
  laterSystem: [false, true],
  openAiOptions: [false, true],
  endUser: [true, false],
  streamUsage: ['asked', 'always'],
  schemas: ['any', 'typed_unions', 'no_patterns', 'google'],
  images: ['any', []],
  imageUrls: [true, false],
  documents: [false, true],
  stopSequences: [true, false],
  formats: [['json', 'schema'], []],
  formatsWithTools: [true, false],
  lastAssistant: [true, false],
  contentBesideCalls: [null, ''],
  sampling: ['both', 'one', 'none'],
  promptCache: ['unknown', 'breakpoints'],
};

/**
 * What no translated request shows: spliced bodies read whether a usage is asked for, documents how a host caches, and
 * nothing is lost where answers are cut at stop sequences that the host would have taken. Which dialect is taken is
 * decided before anything is translated.
 */
const readElsewhere = (trait: Trait, value: unknown) =>
  trait === 'reasonsIn' ||
  (trait === 'streamUsage' && value === 'asked') ||
  (trait === 'promptCache' && value === 'prefix') ||
  (trait === 'stopSequences' && value === true);

/** Streamed where the trait is of streams alone. */
function outcomesAt(row: VendorRow, trait: Trait): string {
  const clients = pairs.filter(({ name }) => name === row.name).map(({ client }) => client);
  const isStream = trait === 'streamUsage';
  return JSON.stringify(clients.map((client) => outcomeOf(client, row, { isStream })));
}

/** Whether the vendor's conversations show that the trait has another value. */
function isNoticed(row: VendorRow, trait: Trait, before: string): boolean {
  const traits = traitsOf({ host: row.host, targetModel: row.vendor.model }) as Record<Trait, unknown>;
  const value = traits[trait];
  try {
    return others[trait].some((other) => {
      if (JSON.stringify(other) === JSON.stringify(value)) return false;
      traits[trait] = other;
      return outcomesAt(row, trait) !== before;
    });
  } finally {
    traits[trait] = value;
  }
}

test('each cell that requests are built by is noticed by a vendor', () => {
  const known = new Map<string, string>();
  const before = (row: VendorRow, trait: Trait) => {
    const key = `${row.name} ${trait === 'streamUsage'}`;
    const found = known.get(key) ?? outcomesAt(row, trait);
    known.set(key, found);
    return found;
  };
  const read = all.filter(
    ({ trait, rows: its }) =>
      !its.some((row) =>
        readElsewhere(trait, traitsOf({ host: row.host, targetModel: row.vendor.model })[trait]),
      ),
  );

  const unnoticed = read.filter(
    ({ trait, rows: its }) => !its.some((row) => isNoticed(row, trait, before(row, trait))),
  );

  expect(Object.keys(others)).toEqual(Object.keys(widelyAccepted));
  expect(read.length).toBeGreaterThan(100);
  expect(unnoticed.map(({ name }) => name)).toEqual([]);
}, 600_000);
