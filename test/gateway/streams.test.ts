import { expect, test } from 'vitest';
import { pathFor } from '../kit/answers.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import { textDialects } from '../kit/dialects.ts';
import { post, projects, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';
import { bodies, letters, saying } from './masking/saying.ts';

// What holds for the streams of every dialect and in every form.

const host = await startHost(saying((text) => ({ text })));
const gateway = await startGateway(`
providers:
${providersAt(host.url)}
models:
${modelsAt('at-', { model: 'm' })}
${projects}`);

test.each(textDialects)('a stream of %s as the array of a Gemini client is JSON', async (provider) => {
  host.script(saying((text) => ({ text }), letters));
  const path = pathFor('gemini', `at-${provider}`, true).replace('?alt=sse', '');

  const answer = await post(gateway, path, bodies.gemini('hello there'));

  const events = (await answer.json()) as { candidates: { content: { parts: { text?: string }[] } }[] }[];
  const parts = events.flatMap(({ candidates }) => candidates[0]?.content.parts ?? []);
  expect(parts.map(({ text = '' }) => text).join('')).toBe('hello there');
});
