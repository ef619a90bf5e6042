import { expect, test } from 'vitest';
import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import { createTranslation } from '../../../src/dialects/translate.ts';
import { claudeCodeTurn, codexTurn } from '../../kit/coding-agents.ts';
import { checkRequest } from '../../kit/strict/check-request.ts';
import { newContext } from './run-translation.ts';

// Whole turns of coding agents, as strict hosts of other dialects read them.

const paths = { messages: '/v1/messages', chat: '/v1/chat/completions', responses: '/v1/responses' };

/** What a turn becomes, and where a strict host would refuse it. */
function translated(client: TextDialectName, provider: keyof typeof paths, turn: object) {
  const context = newContext({ maxOutputTokens: 8_000 });
  const { body } = createTranslation(dialects[client], dialects[provider], context).request(turn);
  return { sent: JSON.stringify(body), refused: checkRequest(paths[provider], body) };
}

test.each(['chat', 'responses'] as const)('Claude Code’s turn is what a strict %s host takes', (provider) => {
  const { sent, refused } = translated('messages', provider, claudeCodeTurn());

  expect(refused).toBeUndefined();
  expect(sent).toContain('é👋'.repeat(100_000));
  expect(sent).toContain('the date is today');
  expect(sent).not.toMatch(/cache_control|web_search|EqQB|context_management|128000/);
});

test.each(['chat', 'messages'] as const)('Codex’s turn is what a strict %s host takes', (provider) => {
  const { sent, refused } = translated('responses', provider, codexTurn());

  expect(refused).toBeUndefined();
  for (const part of ['sandboxed', '*** Begin Patch', 'patched', 'spawn_agent']) expect(sent).toContain(part);
  expect(sent).not.toMatch(/gAAAA|client_metadata|web_search/);
});
