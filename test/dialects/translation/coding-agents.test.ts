import { expect, test } from 'vitest';
import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import { createTranslation } from '../../../src/dialects/translate.ts';
import { claudeCode, codex } from '../../kit/client-bodies.ts';
import { createRandom } from '../../kit/random.ts';
import { checkRequest } from '../../kit/strict/check-request.ts';
import { newContext } from './run-translation.ts';

// Whole turns of coding agents, as strict hosts of other dialects read them.

const paths = { messages: '/v1/messages', chat: '/v1/chat/completions', responses: '/v1/responses' };
const random = createRandom(1);

/** What a turn becomes, and where a strict host would refuse it. */
function translated(client: TextDialectName, provider: keyof typeof paths, turn: object) {
  const context = newContext({ maxOutputTokens: 8_000 });
  const { body } = createTranslation(dialects[client], dialects[provider], context).request(turn);
  return { sent: JSON.stringify(body), refused: checkRequest(paths[provider], body) };
}

test.each(['chat', 'responses'] as const)('Claude Code’s turn is what a strict %s host takes', (provider) => {
  const turn = claudeCode(random);
  const [tool] = turn.tools;
  const longNames = Array.from({ length: 29 }, (_, i) => ({
    ...tool,
    name: `mcp__a_server_with_a_long_name__and_a_tool_whose_name_goes_on_and_on_${i}`,
  }));
  const { sent, refused } = translated('messages', provider, {
    ...turn,
    max_tokens: 128_000,
    tools: [tool, ...longNames, { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'é👋'.repeat(100_000) }] },
      { role: 'system', content: 'the date is today' },
      ...turn.messages.slice(1),
    ],
  });

  expect(refused).toBeUndefined();
  expect(sent).toContain('é👋'.repeat(100_000));
  expect(sent).toContain('the date is today');
  expect(sent).not.toMatch(/cache_control|web_search_2|signature|context_management|128000/);
});

test.each(['chat', 'messages'] as const)('Codex’s turn is what a strict %s host takes', (provider) => {
  const turn = codex(random);
  const agents = [
    { type: 'function', name: 'spawn_agent', parameters: { type: 'object', properties: {} }, strict: false },
  ];
  const { sent, refused } = translated('responses', provider, {
    ...turn,
    tools: [
      ...turn.tools,
      { type: 'namespace', name: 'multi_agent_v1', tools: agents },
      { type: 'web_search' },
    ],
    client_metadata: { cwd: 'x' },
  });

  expect(refused).toBeUndefined();
  for (const part of ['workspace-write', '*** Begin Patch', 'Success', 'spawn_agent']) {
    expect(sent).toContain(part);
  }
  expect(sent).not.toMatch(/encrypted_content|client_metadata|"type":"web_search"/);
});
