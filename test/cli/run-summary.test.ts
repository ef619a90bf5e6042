import { expect, test } from 'vitest';
import { run } from './run-agent.ts';

const yaml = `
providers: { s: { dialect: sandbox } }
models: [{ match: "*", provider: s, pricing: { input: 1000, output: 1000 } }]
policies: { house: { apply: all, rules: [{ id: no-nightfall, when: { text: { phrases: [nightfall] } }, action: block }] } }
`;
/** Asks as Claude Code would, with the headers that it is told to send. */
const ask = (text: string) =>
  `curl -s "$ANTHROPIC_BASE_URL/v1/messages" -H "$ANTHROPIC_CUSTOM_HEADERS" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN" \
    -H 'x-claude-code-session-id: 7143c744' -H 'content-type: application/json' \
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

test.each([[['-q', ...argv], true] as const, [argv, false] as const])(
  'nothing is said with -q, or where nobody watches: %j %s',
  async (line, isTerminal) => {
    const { stderr } = await run({ yaml, script, argv: line, isTerminal });
    expect(stderr).not.toContain('requests,');
  },
);
