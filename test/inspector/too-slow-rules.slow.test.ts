import { beforeAll, expect, test } from 'vitest';
import { projects } from '../kit/gateway.ts';
import { type InspectedGateway, startInspected } from '../kit/inspector.ts';

let gateway: InspectedGateway;
beforeAll(async () => {
  gateway = await startInspected(
    `providers: { s: { dialect: sandbox } }\nmodels: [{ match: "*", provider: s }]\n${projects}`,
  );
});

test('rules that take too long are ended, and exchanges go on meanwhile', async () => {
  const rules = Array.from(
    { length: 9_000 },
    (_, i) => `- { id: r${i}, action: block, when: { text: { regex: ["(\\\\w{1,30}-){30}x{1,50}${i}"] } } }`,
  );
  const policies = `house:\n  apply: all\n  rules:\n${rules.map((rule) => `    ${rule}\n`).join('')}`;
  const content = 'abcde-'.repeat(150_000);
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
  const attempt = () => gateway.post('try-policy', { policies, body });

  const attempts = [attempt(), attempt(), attempt()];
  const statuses: number[] = [];
  for (let i = 0; i < 5; i += 1) statuses.push((await fetch(`${gateway.url}/readyz`)).status);
  const reasons = (await Promise.all(attempts)).map(
    (answer) => (answer as { error: { reason: string } }).error.reason,
  );

  expect(statuses).toEqual(Array(5).fill(200));
  // Two at a time; what a third would take is not even begun.
  expect(reasons.toSorted()).toEqual(['inspector.busy', 'inspector.too_long', 'inspector.too_long']);
}, 60_000);
