import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from './run-agent.ts';

const yaml = `
providers: { s: { dialect: sandbox } }
models: [{ match: "*", provider: s, pricing: { input: 1000, output: 1000 } }]
policies: { house: { apply: all, rules: [{ id: no-nightfall, when: { text: { phrases: [nightfall] } }, action: block }] } }
`;
/** Asks as Claude Code would. */
const ask = (text: string) =>
  `curl -s "$ANTHROPIC_BASE_URL/v1/messages" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" \
    -H 'x-claude-code-session-id: 7143c744' -H 'x-gateway-run-limits: usd=9' -H 'content-type: application/json' \
    -d '{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"${text}"}]}' >/dev/null`;
const script = [ask('hello'), ask('project nightfall'), 'exit 3'].join('\n');
const argv = ['-c', 'gateway.yaml', 'run', 'claude'];

test('on a terminal run ends with what the agent did, and with its exit code', async () => {
  const { exit, stderr } = await run({ yaml, script, argv, isTerminal: true });

  expect(exit).toBe(3);
  expect(stderr.replace(/\s+/g, ' ')).toMatch(
    /gateway: 2 requests, \d+ tokens in, \d+ out, US\$ 0\.\d+; 1 refused; gateway sessions show 7143c744/,
  );
});

test('without a ledger it names the log, not the sessions', async () => {
  const { stderr } = await run({ script: ask('hello'), argv: ['run', 'claude'], isTerminal: true });

  expect(stderr.replace(/\s+/g, ' ')).toMatch(/gateway: 1 request, .*; gateway logs -n 1 /);
});

test.each([[['-q', ...argv], true] as const, [argv, false] as const])(
  'nothing is said with -q, or where nobody watches: %j %s',
  async (line, isTerminal) => {
    const { stderr } = await run({ yaml, script, argv: line, isTerminal });
    expect(stderr).not.toContain('requests,');
  },
);

const sandbox = `
providers: { s: { dialect: sandbox } }
models: [{ match: "*", provider: s, pricing: { input: 1, output: 1 } }]
`;
/** What the gateway says is the agent's output. */
const show = ask('hello').replace(' >/dev/null', '');

test('a run with a budget in requests is warned of twice, and refused with how to raise it', async () => {
  const script = [...new Array(21).fill(show), 'sleep 1'].join('\n');
  const { stdout, stderr } = await run({
    yaml: sandbox,
    script,
    argv: ['-c', 'gateway.yaml', 'run', '--requests', '20', 'claude'],
  });
  const said = stderr.replace(/\s+/g, ' ');

  expect(said.match(/this run has used \d+ %/g)).toEqual([
    'this run has used 75 %',
    'this run has used 95 %',
  ]);
  expect(said).toMatch(/of its 20 requests; "gateway sessions raise run-\w{12} --requests N" allows more/);
  expect(stdout.match(/"type":"message"/g)).toHaveLength(20);
  expect(stdout).toMatch(
    /the limit of this run is 20 requests: 0 left, and this request may need 1; \\"gateway sessions raise run-\w{12} --requests N\\" lets it go on/,
  );
});

test('a run with a budget in US$ is refused what could exceed it, and goes on once it is raised', async () => {
  const main = join(import.meta.dirname, '../../bin/gateway.js');
  const raise = `${process.execPath} ${main} sessions raise "$(printf '%s\n' "$GATEWAY_KEY" | cut -d~ -f2)" 1`;
  const { stdout, stderr } = await run({
    yaml: sandbox,
    // A command looks for the ledger of the file in its folder.
    script: ['cd "$HOME"', show, show, raise, 'sleep 2', show].join('\n'),
    argv: ['-c', 'gateway.yaml', 'run', '--budget', '0.00005', 'claude'],
  });

  expect(stdout.match(/"type":"(?:message|error)"/g)).toEqual([
    '"type":"message"',
    '"type":"error"',
    '"type":"message"',
  ]);
  expect(stdout).toMatch(
    /the limit of this run is US\$ 0.00005: US\$ [\d.]+ left, and this request may need/,
  );
  expect(stderr).not.toContain('this run has used 95 %');
});

test('a key whose limits were changed into no limits is none', async () => {
  const script = show.replace('_TOKEN"', '_TOKEN~"');
  const { stdout } = await run({
    yaml: sandbox,
    script,
    argv: ['-c', 'gateway.yaml', 'run', '--requests', '1', 'claude'],
  });

  expect(stdout).toContain('this project key is not known here');
});

test('a run within a run has the limits of both', async () => {
  const main = join(import.meta.dirname, '../../bin/gateway.js');
  const inner = `[ -n "$INNER" ] || { INNER=1 exec ${process.execPath} ${main} run --requests 9 claude; }`;
  const { stdout } = await run({
    yaml: sandbox,
    script: [inner, show, show].join('\n'),
    argv: ['-c', 'gateway.yaml', 'run', '--requests', '1', 'claude'],
  });

  expect(stdout.match(/"type":"(?:message|error)"/g)).toEqual(['"type":"message"', '"type":"error"']);
});

describe('an agent of which no request arrived', () => {
  test.each<[string, string, Partial<Parameters<typeof run>[0]>, boolean]>([
    ['that asked nothing', 'exit 0', {}, true],
    ['on a terminal', 'exit 0', { isTerminal: true }, true],
    [
      'that only looked at the models',
      'curl -s "$ANTHROPIC_BASE_URL/v1/models" -H "x-api-key: $GATEWAY_KEY"',
      {},
      true,
    ],
    ['that used a key of its own', show.replace('$ANTHROPIC_AUTH_TOKEN', 'gw_other'), {}, true],
    ['that was refused at once', show.replace('"max_tokens"', ''), {}, false],
    ['that asked', show, {}, false],
    ['with -q', 'exit 0', { argv: ['-q', ...argv] }, false],
  ])('%s', async (_what, script, options, isSaid) => {
    const { exit, isMissed = false } = await run({ yaml: sandbox, script, argv, ...options });

    expect([exit, isMissed]).toEqual([0, isSaid]);
  });
});
