// What a text costs that a service has been asked about before, in CPU time of the process: the same decision with a rule
// that asks and without. Build first: npm run build:modules && node bench/checks.mjs
import { dialects } from '../build/dialects/registry.js';
import { parseStrictJson } from '../build/json/strict-json.js';
import { compilePolicies } from '../build/policy/compile.js';
import { policySchema } from '../build/policy/rules/schema.js';

const rounds = 7;
const maxMicroseconds = 30;

const word = { id: 'word', action: 'warn', when: { text: { phrases: ['nightfall'] } } };
const asks = { id: 'asks', action: 'warn', when: { check: { url: 'http://127.0.0.1:9', cache: 100_000 } } };

function policiesOf(rules) {
  const policies = { p: policySchema.parse({ apply: 'all', rules }) };
  const compiled = compilePolicies(policies, []);
  return { set: compiled.select(['p']), checks: compiled.checks };
}

function subjectOf(texts, bytes) {
  const turns = Array.from({ length: texts }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `${i} ${'so it was said, and so it was written. '.repeat(bytes / 38)}`.slice(0, bytes),
  }));
  const document = parseStrictJson(Buffer.from(JSON.stringify({ model: 'm', messages: turns })));
  const rest = { endpoint: 'messages', model: 'm', targetModels: [], stream: false };
  return { ...rest, document, dialect: dialects.messages, project: 'p', key: 'k', nowMs: 0 };
}

function microseconds(decide, decisions) {
  const before = process.cpuUsage();
  for (let i = 0; i < decisions; i += 1) decide();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / decisions;
}

let isMissed = false;
for (const [texts, bytes, decisions] of [
  [1_000, 100, 100],
  [1_000, 1_000, 30],
  [100, 10_000, 30],
]) {
  const subject = subjectOf(texts, bytes);
  const plain = policiesOf([word]);
  const asking = policiesOf([word, asks]);
  const first = asking.checks.decide(new Map(), () => asking.set.decide(subject));
  for (const { service, texts: unasked } of first.unasked) {
    asking.checks.keep(
      service,
      unasked.map(({ id }) => [id, []]),
      new Map(),
    );
  }
  const decide = () => asking.checks.decide(new Map(), () => asking.set.decide(subject));
  const extra = Array.from({ length: rounds }, () => {
    const without = microseconds(() => plain.set.decide(subject), decisions);
    return (microseconds(decide, decisions) - without) / texts;
  }).sort((a, b) => a - b)[Math.floor(rounds / 2)];
  console.log(`${texts} known texts of ${bytes} bytes: ${extra.toFixed(2)} µs each`);
  if (bytes === 1_000 && extra > maxMicroseconds) isMissed = true;
}
if (isMissed) {
  console.error(`a known text of 1 KB takes more than ${maxMicroseconds} µs`);
  process.exitCode = 1;
}
