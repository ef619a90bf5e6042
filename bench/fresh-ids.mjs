#!/usr/bin/env node
// What a decision costs when ids are new in every body, as in life: four tool ids, a UUID and a trace id of 8 KB.
//   npm run build:modules && node bench/fresh-ids.mjs [ROOT]
// CPU time, because the machine may be busy. `same` has the same ids each time.
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { conversation } from './policy-bodies.mjs';

const root = process.argv[2] ?? join(import.meta.dirname, '..');
const load = (path) => import(join(root, 'build', path));
const { dialects } = await load('dialects/registry.js');
const { parseStrictJson } = await load('json/strict-json.js');
const { compilePolicies } = await load('policy/compile.js');
const { policySchema } = await load('policy/rules/schema.js');

const detect = ['credit_card', 'email', 'phone', 'iban', 'us_ssn', 'ip_address', 'secrets', 'private_key'];
const policy = { rules: [{ id: 'detect', action: 'block', when: { text: { detect } } }] };
const set = compilePolicies({ policy: policySchema.parse(policy) }, ['sk-provider-0123456789abcdef']).select([
  'policy',
]);
const text = JSON.stringify(conversation(8_000));
const ids = [...new Set(text.match(/toolu_01\w{22}/g))];
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789';
const random = (length) => Array.from(randomBytes(length), (byte) => letters[byte % letters.length]).join('');

function body(areNew) {
  if (!areNew) return text;
  let own = text;
  for (const id of ids) own = own.replaceAll(id, `toolu_01${random(22)}`);
  return own.replace(
    '"max_tokens"',
    `"metadata":{"user_id":"${randomUUID()} ${randomBytes(16).toString('hex')}"},"max_tokens"`,
  );
}

const rounds = 1500;
for (const areNew of [false, true, false, true]) {
  const bodies = Array.from({ length: rounds }, () => Buffer.from(body(areNew)));
  const before = process.cpuUsage();
  let found = 0;
  for (const bytes of bodies) {
    const document = parseStrictJson(bytes);
    const decision = set.decide({
      document,
      dialect: dialects.messages,
      endpoint: 'messages',
      model: 'm',
      targetModels: [],
      stream: false,
      project: 'p',
      key: 'k',
      nowMs: 0,
    });
    if (decision?.refusal !== undefined) found += 1;
  }
  const { user, system } = process.cpuUsage(before);
  console.log(
    `${areNew ? 'new ' : 'same'} ids: ${((user + system) / rounds).toFixed(0)} µs a body, ${found} refused`,
  );
}
