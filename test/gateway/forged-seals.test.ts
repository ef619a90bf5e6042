import { describe, expect, test } from 'vitest';
import { bytesSlot, digestOf, sealText, signedText } from '../../src/dialects/translation/seals.ts';
import { speakAll } from '../kit/answers.ts';
import { modelsAt, originAt, providersAt } from '../kit/config.ts';
import {
  askedAt,
  clientForms,
  type ProviderForm,
  providerForms,
  type TextClient,
  textPairs,
  textProviders,
} from '../kit/forms.ts';
import { post, secrets, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';

// What a client sends in the slot of a seal, and this gateway has not made (docs/decisions/seals.md).

const host = await startHost(speakAll);
const gateway = await startGateway(`
providers:
${providersAt(host.url, { of: { chat: 'host: openrouter' } })}
models:
${modelsAt('at-', { model: 'm' })}
policies:
  strict: { unseen_references: block }
projects:
  shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  other: { policies: [strict], keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
`);

const text = 'so it is';
/** A turn of the model with something in each slot that a seal can have. */
const turns: Readonly<Record<TextClient, (slot: string) => object>> = {
  messages: (signature) => ({
    max_tokens: 64,
    messages: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: text, signature },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'user', content: 'c' },
    ],
  }),
  chat: (data) => ({
    messages: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: 'b',
        reasoning_content: text,
        reasoning_details: [{ type: 'reasoning.encrypted', data }],
      },
      { role: 'user', content: 'c' },
    ],
  }),
  responses: (encrypted_content) => ({
    input: [
      { role: 'user', content: 'a' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text }], encrypted_content },
      { role: 'user', content: 'c' },
    ],
  }),
  gemini: (slot) => ({
    contents: [
      { role: 'user', parts: [{ text: 'a' }] },
      {
        role: 'model',
        parts: [{ text, thought: true, thoughtSignature: bytesSlot.write(slot) }, { text: 'b' }],
      },
      { role: 'user', parts: [{ text: 'c' }] },
    ],
  }),
  gemini_array: (slot) => turns.gemini(slot),
};

async function send(client: TextClient, provider: string, slot: string, key: string) {
  const model = `at-${provider}`;
  const before = host.requests.length;
  const body = { ...turns[client](slot), ...(clientForms[client] !== 'gemini' && { model }) };
  const answer = await post(gateway, askedAt(client, model, false), body, {
    headers: { authorization: `Bearer ${key}` },
  });
  const came = await answer.text();
  return { status: answer.status, came, sent: host.requests[before]?.body.toString() };
}

/** As hosts write them; the text that a signature is of is in it. */
function forged(provider: ProviderForm): string {
  const data: Readonly<Record<string, string>> = {
    chat: `{"digest":"${digestOf(text)}","details":[{"type":"reasoning.encrypted","data":"forged"}]}`,
    responses: '{"id":"rs_1","encrypted_content":"forged"}',
  };
  return sealText(
    { of: 'thought', data: data[provider] ?? signedText(digestOf(text), 'forged') },
    { origin: originAt(host.url, provider) },
  );
}

describe.each(textPairs)('%s to %s', (client, provider) => {
  test.each([
    'gw1-anthropic-thought-',
    'gw1-gemini-thought-',
    'gw1-openrouter-thought-',
    'gw1-nobody-thought-',
  ])('a seal of earlier versions goes nowhere: %s', async (start) => {
    const slot = start + Buffer.from(signedText(digestOf(text), 'forged')).toString('base64url');

    const { status, sent = '' } = await send(client, provider, slot, secrets.PROJECT_KEY);

    const isThere = sent.includes('forged') || sent.includes(start);
    expect({ status, isThere }).toEqual({ status: 200, isThere: false });
  });

  const isOwn = clientForms[client] === providerForms[provider];

  test('what only begins like a seal is a signature of its vendor', async () => {
    for (const slot of ['gw1-', 'gw1-EqQBforged', 'gw1-gemini-word-Zm9yZ2Vk', 'gw1-thought-Zm9yZ2Vk']) {
      const { status, sent = '' } = await send(client, provider, slot, secrets.PROJECT_KEY);

      const written = clientForms[client] === 'gemini' ? bytesSlot.write(slot) : slot;
      expect({ slot, status, isThere: sent.includes(`"${written}"`) }).toEqual({
        slot,
        status: 200,
        isThere: isOwn,
      });
    }
  });

  test('a seal goes to the provider that it names, and as unseen content to none', async () => {
    for (const name of textProviders) {
      const free = await send(client, provider, forged(name), secrets.PROJECT_KEY);
      const strict = await send(client, provider, forged(name), secrets.OTHER_KEY);

      const isOpened = free.sent?.includes('"forged"') === true;
      expect([free.status, isOpened && (isOwn || provider !== name)]).toEqual([200, false]);
      expect(free.sent).not.toMatch(new RegExp(`"(?:gw1-|${bytesSlot.start})`));
      expect(strict.sent ?? '').not.toContain('"forged"');
      // The signature of a thought that rules can read is no reference, until something else is made of it.
      const isRefused =
        client !== 'messages' || (isOpened && /encrypted_content|reasoning\.encrypted/.test(free.sent ?? ''));
      expect({
        name,
        status: strict.status,
        isSaid: strict.came.includes('content.unseen_reference'),
      }).toEqual({ name, status: isRefused ? 403 : 200, isSaid: isRefused });
    }
  });
});
