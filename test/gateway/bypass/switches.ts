import { isText } from '../../../src/dialects/dialect.ts';
import { hasModel } from '../../../src/dialects/model-path.ts';
import { type DialectName, dialects } from '../../../src/dialects/registry.ts';
import { dialectNames } from '../../kit/dialects.ts';
import { type Bypass, blocked, codename, model, saying, targetOf } from './case.ts';

const headers: readonly string[] = [
  'X-Gateway-Policy: off',
  'X-Gateway-Mode: monitor',
  'X-Gateway-Bypass: true',
  'X-Gateway-Project: other',
  'X-Portkey-Config: {"guardrails":[]}',
  'X-HTTP-Method-Override: GET',
  'X-Forwarded-For: 127.0.0.1',
  'Cookie: policy=off',
  'Anthropic-Beta: no-policy-2026',
  'Range: bytes=0-1',
  'Accept: text/event-stream',
];

const fields: readonly object[] = [
  { policy: 'off' },
  { gateway: { mode: 'monitor', policies: [] } },
  { metadata: { gateway_policy: 'off' } },
  { project: 'other' },
];

const queries: readonly string[] = ['?beta=true', '?policy=off', '?/../healthz', '?beta=true&beta=false'];

/** Google's clients once sent keys in the address, where none is taken. */
const refusesKeys = (name: DialectName) => hasModel(dialects[name].methods[0]);

/** What a client sends in the hope that it turns the policy off, on every dialect. */
export const clientSwitches: readonly Bypass[] = dialectNames.flatMap((endpoint) => {
  const make = (name: string, more: Partial<Bypass> = {}, field: object = {}): Bypass => ({
    ...{ name: `${endpoint}: ${name}`, endpoint, body: saying(endpoint, codename, field), expect: blocked },
    ...more,
  });
  return [
    ...headers.map((header) => make(header, { headers: [header] })),
    ...fields.map((field) => make(JSON.stringify(field), {}, field)),
    ...queries.map((query) => make(query, { target: targetOf(endpoint) + query })),
    make('?key=other', {
      target: `${targetOf(endpoint)}?key=other`,
      ...(refusesKeys(endpoint) ? { expect: { status: 401, reason: 'key.missing' } } : {}),
    }),
    ...(isText(dialects[endpoint])
      ? [make('stream', { target: targetOf(endpoint, model[endpoint], true) }, { stream: true })]
      : []),
  ];
});
