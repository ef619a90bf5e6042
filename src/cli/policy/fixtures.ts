import { isNode, LineCounter, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { suggest } from '../../config/source/problems.ts';
import { isFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import { destinationNamed, guessDestination, type RequestEndpoint } from '../../gateway/offline/question.ts';
import type { AgentName, Sender } from '../../gateway/sender.ts';
import { clientNames } from '../../policy/matchers/client-names.ts';
import { actions } from '../../policy/rule.ts';

const text = z.string('expected a text');
const texts = (what: string) => z.array(z.string(`expected a list of ${what}`), `expected a list of ${what}`);

/** The decision that a fixture expects; a missing field may be anything, null means absent. */
const expectationSchema = z.strictObject({
  decision: z
    .enum(actions, { error: ({ input }) => `expected ${actions.join(', ')}, not ${input}` })
    .optional(),
  rule: text.nullable().optional(),
  reason: text.nullable().optional(),
  at: text.nullable().optional(),
  would_block: texts('rule ids').optional(),
  /** The values that leave as placeholders. */
  masked: texts('values').optional(),
  /** `provider/model`, where it is sent first. */
  target: text.nullable().optional(),
});

const fixtureSchema = z.strictObject({
  name: text.default(''),
  /** Id of the key it comes with; by default the only key there is. */
  key: text.optional(),
  endpoint: text.optional(),
  /** What the client says of itself. */
  client: z.enum(clientNames, `expected ${clientNames.join(', ')}`).optional(),
  session: text.optional(),
  class: text.optional(),
  body: z.custom<object>(isFields, 'expected a mapping; write raw for anything else').optional(),
  /** Byte for byte, for what YAML can't express (duplicate keys, bytes that are not text). */
  raw: z.union([z.string(), z.instanceof(Uint8Array)], 'expected a text, or !!binary').optional(),
  /** For rules that depend on the time; now by default. */
  time: text
    .transform((time) => Date.parse(time))
    .refine((ms) => !Number.isNaN(ms), 'expected a time such as 2026-01-07T12:00:00Z')
    .optional(),
  expect: z.preprocess(
    (given) => (typeof given === 'string' ? { decision: given } : given),
    expectationSchema.optional(),
  ),
});

/** One request with its expected decision. */
export interface Fixture extends Pick<z.output<typeof fixtureSchema>, 'name' | 'key' | 'expect'> {
  readonly file: string;
  readonly line: number;
  readonly destination: RequestEndpoint;
  readonly body: Buffer;
  readonly sender: Sender;
  readonly nowMs: number | undefined;
}

/** The fixtures of a YAML file: one, a list, or several documents of these. Throws usage.invalid with the line. */
export function parseFixtures(yaml: string, file: string): readonly Fixture[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(yaml.replace(/^\uFEFF/, ''), {
    lineCounter: lines,
    customTags: ['binary'],
  });
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
      const { line } = lines.linePos(offset);
      try {
        found.push({ file, line, ...readFixture(item) });
      } catch (cause) {
        if (!(cause instanceof Error)) throw cause;
        throw new GatewayError('usage.invalid', `${file}:${line}  ${cause.message}`);
      }
    }
  }
  return found;
}

/** Throws an error that says what is wrong. */
function readFixture(value: unknown): Omit<Fixture, 'file' | 'line'> {
  const { data, error } = fixtureSchema.safeParse(value);
  if (error !== undefined) throw new Error(describeIssue(error.issues[0]));
  const { name, key, endpoint, raw, time: nowMs, expect } = data;
  if ((data.body === undefined) === (raw === undefined)) throw new Error('give one of body and raw');
  const body = Buffer.from(raw ?? JSON.stringify(data.body, finite));
  const destination = endpoint === undefined ? guessDestination(body) : destinationNamed(endpoint);
  return { name, key, expect, nowMs, destination, body, sender: senderOf(data) };
}

/** What the client of a request says of itself, by the names of conditions. */
export function senderOf({ client, session, class: requestClass }: SenderFields): Sender {
  return {
    ...(client !== undefined && { agent: client }),
    ...(session !== undefined && { session }),
    ...(requestClass !== undefined && { request_class: requestClass }),
  };
}

interface SenderFields {
  readonly client?: AgentName | undefined;
  readonly session?: string | undefined;
  readonly class?: string | undefined;
}

/** JSON can't express other numbers: it would write null. */
function finite(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new Error(`body: JSON has no ${value}`);
}

function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  const at = issue?.path.join('.') || 'a fixture';
  const known = Object.keys((at === 'expect' ? expectationSchema : fixtureSchema).shape);
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    return `${at}: unknown key ${key}; ${suggest(key, known) ?? `expected ${known.join(', ')}`}`;
  }
  const isGroup = issue?.code === 'invalid_type' && issue.expected === 'object';
  return isGroup ? `${at}: expected a mapping with ${known.join(', ')}` : `${at}: ${issue?.message}`;
}
