import { isNode, LineCounter, parseAllDocuments } from 'yaml';
import type { KeyRecord } from '../../config/build/keys.ts';
import { suggest } from '../../config/source/problems.ts';
import { GatewayError } from '../../errors.ts';
import { decideOffline } from '../../gateway/offline/decide-offline.ts';
import {
  type Destination,
  destinationNamed,
  guessDestination,
  type Outcome,
} from '../../gateway/offline/question.ts';
import { type Action, actions } from '../../policy/rule.ts';
import type { LoadedPolicies } from './load-policies.ts';

/** The outcome that a fixture expects; a missing field may be anything, null means absent. */
interface Expectation {
  readonly decision?: Action;
  readonly rule?: string | null;
  readonly reason?: string | null;
  readonly at?: string | null;
  readonly would_block?: readonly string[];
  /** The values that leave as placeholders. */
  readonly masked?: readonly string[];
}

/** One request with its expected outcome. */
export interface Fixture {
  readonly file: string;
  readonly line: number;
  readonly name: string;
  /** Id of the key it comes with; by default the only key there is. */
  readonly key?: string;
  readonly destination: Destination;
  readonly body: Buffer;
  /** For rules that depend on the time; now by default. */
  readonly nowMs?: number;
  readonly expect?: Expectation;
}

const fixtureKeys = ['name', 'key', 'endpoint', 'body', 'raw', 'time', 'expect'];
const expectationKeys = ['decision', 'rule', 'reason', 'at', 'would_block', 'masked'] as const;

/** The fixtures of a YAML file: one, a list, or several documents of these. Throws usage.invalid with the line. */
export function parseFixtures(text: string, file: string): readonly Fixture[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, customTags: ['binary'] });
  const found: Fixture[] = [];
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors;
    if (error !== undefined) {
      const { line, col } = lines.linePos(error.pos[0]);
      throw new GatewayError('usage.invalid', `${file}:${line}:${col}  ${error.message.split('\n')[0]}`);
    }
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    if (value === null || value === undefined) continue;
    const isList = Array.isArray(value);
    for (const [index, item] of (isList ? value : [value]).entries()) {
      const node = isList ? document.getIn([index], true) : document.contents;
      const offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
      found.push(new FixtureReader(file, lines.linePos(offset).line).read(item));
    }
  }
  return found;
}

/** Reads one fixture; every error names its file and line. */
class FixtureReader {
  readonly #file: string;
  readonly #line: number;

  constructor(file: string, line: number) {
    this.#file = file;
    this.#line = line;
  }

  read(value: unknown): Fixture {
    const fields = this.#fields(value, fixtureKeys, 'a fixture');
    const body = this.#body(fields);
    const name = this.#text(fields, 'name');
    const key = this.#text(fields, 'key');
    const time = this.#text(fields, 'time');
    const nowMs = time === undefined ? undefined : Date.parse(time);
    if (Number.isNaN(nowMs)) throw this.#wrong(`time: expected a time such as 2026-01-07T12:00:00Z`);
    return {
      file: this.#file,
      line: this.#line,
      name: name ?? '',
      ...(key === undefined ? {} : { key }),
      destination: this.#destination(fields, body),
      body,
      ...(nowMs === undefined ? {} : { nowMs }),
      ...(fields.expect === undefined ? {} : { expect: this.#expectation(fields.expect) }),
    };
  }

  #destination(fields: Fields, body: Buffer): Destination {
    const name = this.#text(fields, 'endpoint');
    if (name === undefined) return guessDestination(body);
    try {
      return destinationNamed(name);
    } catch (error) {
      throw this.#wrong(error instanceof Error ? error.message : 'there is no such endpoint');
    }
  }

  /** `body` as YAML, or `raw` byte for byte, for what YAML can't express (duplicate keys, bytes that are not text). */
  #body({ body, raw }: Fields): Buffer {
    if ((body === undefined) === (raw === undefined)) throw this.#wrong('give one of body and raw');
    if (raw instanceof Uint8Array) return Buffer.from(raw);
    if (typeof raw === 'string') return Buffer.from(raw);
    if (raw !== undefined) throw this.#wrong('raw: expected a text, or !!binary');
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw this.#wrong('body: expected a mapping; write raw for anything else');
    }
    return Buffer.from(JSON.stringify(body, (_key, value) => this.#finite(value)));
  }

  /** JSON can't express these: it would write null. */
  #finite(value: unknown): unknown {
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    throw this.#wrong(`body: JSON has no ${value}`);
  }

  #expectation(value: unknown): Expectation {
    const given = typeof value === 'string' ? { decision: value } : value;
    const fields = this.#fields(given, expectationKeys, 'expect');
    const decision = this.#text(fields, 'decision');
    const known = actions.find((action) => action === decision);
    if (decision !== undefined && known === undefined) {
      throw this.#wrong(`expect.decision: expected ${actions.join(', ')}, not ${decision}`);
    }
    const wouldBlock = this.#list(fields.would_block, 'would_block', 'rule ids');
    const masked = this.#list(fields.masked, 'masked', 'values');
    return {
      ...(known === undefined ? {} : { decision: known }),
      ...this.#nullable(fields, 'rule'),
      ...this.#nullable(fields, 'reason'),
      ...this.#nullable(fields, 'at'),
      ...(wouldBlock === undefined ? {} : { would_block: wouldBlock }),
      ...(masked === undefined ? {} : { masked }),
    };
  }

  #list(value: unknown, name: string, of: string): readonly string[] | undefined {
    if (value === undefined || (Array.isArray(value) && value.every(isText))) return value;
    throw this.#wrong(`expect.${name}: expected a list of ${of}`);
  }

  #nullable<Name extends string>(fields: Fields, name: Name): { [Key in Name]?: string | null } {
    const value = fields[name];
    if (value === undefined) return {};
    if (value !== null && !isText(value)) throw this.#wrong(`expect.${name}: expected a text`);
    return { [name]: value } as { [Key in Name]?: string | null }; // a computed key is widened to string
  }

  #text(fields: Fields, name: string): string | undefined {
    const value = fields[name];
    if (value === undefined || isText(value)) return value;
    throw this.#wrong(`${name}: expected a text`);
  }

  #fields(value: unknown, known: readonly string[], what: string): Fields {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw this.#wrong(`${what}: expected a mapping with ${known.join(', ')}`);
    }
    const unknown = Object.keys(value).find((key) => !known.includes(key));
    if (unknown === undefined) return value as Fields; // checked to be a mapping
    const hint = suggest(unknown, known) ?? `expected ${known.join(', ')}`;
    throw this.#wrong(`${what}: unknown key ${unknown}; ${hint}`);
  }

  #wrong(message: string): GatewayError {
    return new GatewayError('usage.invalid', `${this.#file}:${this.#line}  ${message}`);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export interface Difference {
  readonly field: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** The differences between a fixture's expected and actual outcome. */
export function checkFixture(
  fixture: Fixture,
  policies: LoadedPolicies,
  nowMs: number,
): readonly Difference[] {
  const question = {
    config: policies.config,
    key: keyOf(fixture, policies),
    ...fixture.destination,
    body: fixture.body,
    nowMs: fixture.nowMs ?? nowMs,
  };
  const { masked, ...expect } = fixture.expect ?? {};
  const decided = decideOffline(question);
  const differences = compare(expect, decided.outcome);
  const got = masked === undefined ? masked : [...decided.masked.values()];
  const isAsExpected = JSON.stringify(got) === JSON.stringify(masked);
  return isAsExpected ? differences : [...differences, { field: 'masked', expected: masked, got }];
}

function keyOf({ key, file, line }: Fixture, policies: LoadedPolicies): KeyRecord {
  try {
    return policies.findKey(key);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError(error.code, `${file}:${line}  ${error.message}`, { param: 'key' });
  }
}

function compare(expect: Omit<Expectation, 'masked'>, outcome: Outcome): readonly Difference[] {
  return Object.entries(expect).flatMap(([field, expected]) => {
    const got = outcome[field as keyof typeof expect] ?? null; // the same names in both
    return JSON.stringify(got) === JSON.stringify(expected) ? [] : [{ field, expected, got }];
  });
}
