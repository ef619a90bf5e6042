// What deciding about hostile bodies costs by itself, in CPU time: against a harmless body of the same size, and how it grows
// with the size. Nothing is kept but the tables of a policy that has read such bodies before. Fails where the cost of a byte
// grows by half or more when the body doubles.
//   npm run build:modules && node --single-threaded-gc bench/policy-growth.mjs [bytes] [rounds] [part of a name]
import { dialects } from '../build/dialects/registry.js';
import { parseStrictJson } from '../build/json/strict-json.js';
import { compilePolicies } from '../build/policy/compile.js';
import { policySchema } from '../build/policy/rules/schema.js';
import { hostileBodies } from './hostile-bodies.mjs';
import { policies as measured } from './policies.mjs';

const size = Number(process.argv[2] ?? 400_000);
const rounds = Number(process.argv[3] ?? 7);
const wanted = process.argv[4] ?? '';
const allowedGrowth = 1.5;

const rule = (id, action, text) => ({ id, action, when: { text } });
const personal = ['credit_card', 'email', 'phone', 'secrets'];
const { large } = measured;
const policies = {
  blocking: { rules: large },
  redacting: { rules: [rule('redact', 'redact', { detect: personal })] },
  excepting: {
    rules: [
      { ...rule('redact', 'redact', { detect: personal }), except: { text: { phrases: ['a@b.example'] } } },
    ],
  },
};

const compile = (policy) =>
  compilePolicies({ policy: policySchema.parse(policy) }, ['sk-provider-0123456789abcdef']).select([
    'policy',
  ]);
let marks = 100;

/** Milliseconds of CPU that a decision takes, and what it is; undefined if the body is refused before any. */
function time(set, make) {
  marks += 1;
  const bytes = Buffer.from(make(marks));
  const started = process.cpuUsage();
  let decision;
  try {
    decision = set.decide({
      document: parseStrictJson(bytes),
      dialect: dialects.messages,
      endpoint: 'messages',
      model: 'm',
      targetModels: [],
      stream: false,
      project: 'p',
      key: 'k',
      nowMs: 0,
    });
  } catch {
    return undefined;
  }
  const { user, system } = process.cpuUsage(started);
  return { ms: (user + system) / 1000, bytes: bytes.length, action: decision.action };
}

const least = (samples) => Math.min(...samples.map(({ ms, bytes }) => ms / bytes)) * samples[0].bytes;
const row = (...cells) =>
  console.log(cells.map((cell, at) => (at === 0 ? cell.padEnd(48) : String(cell).padStart(8))).join('  '));

const [one, two] = [hostileBodies(size), hostileBodies(2 * size)];
console.log(
  `node ${process.version}, least of ${rounds}; ms of CPU, times harmless, growth of a byte's cost`,
);
row('', 'bytes', 'ms', 'times', 'growth');
const worst = { times: { name: '', value: 0 }, growth: { name: '', value: 0 } };
const note = (kind, name, value) => {
  if (value > worst[kind].value) worst[kind] = { name, value };
};
for (const [policyName, policy] of Object.entries(policies)) {
  const set = compile(policy);
  const kind = policyName === 'blocking' ? 'blocked' : 'redactable';
  for (let round = 0; round < 5; round += 1) {
    for (const [name, make] of Object.entries(one[kind]))
      if (name.includes(wanted) || round < 2) time(set, make);
  }
  for (const [name, make] of Object.entries(one[kind])) {
    if (!name.includes(wanted)) continue;
    const samples = Array.from({ length: rounds }, () => [
      time(set, one.blocked.harmless),
      time(set, make),
      time(set, two[kind][name]),
    ]);
    const label = `${policyName}: ${name}`;
    if (samples[0][1] === undefined) {
      row(label, '', '', '', '', 'refused');
      continue;
    }
    const [harmless, single, double] = [0, 1, 2].map((at) => least(samples.map((each) => each[at])));
    const [{ bytes: base }, { bytes, action }, { bytes: doubleBytes }] = samples[0];
    const times = single / bytes / (harmless / base);
    const growth = double / doubleBytes / (single / bytes);
    note('times', label, times);
    note('growth', label, growth);
    row(label, bytes, single.toFixed(1), times.toFixed(1), growth.toFixed(2), action);
  }
}
for (const [kind, { name, value }] of Object.entries(worst))
  console.log(`most ${kind}: ${name}, ${value.toFixed(2)}`);
if (worst.growth.value >= allowedGrowth) process.exitCode = 1;
