import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { json, speakAll } from '../../kit/answers.ts';
import { projects, secrets, startGateway, type TestGateway } from '../../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../../kit/host.ts';
import { createRandom } from '../../kit/random.ts';
import { postRaw } from '../../kit/raw.ts';

// The samples of docs/routing.md against what the routers that they come from choose, by their own descriptions.

/** The sample of the document, with one host in place of all and the keys of tests. */
function sample(name: string, { url }: Pick<ScriptedHost, 'url'>): string {
  const document = readFileSync('docs/routing.md', 'utf8');
  const yaml = new RegExp(`\`\`\`yaml\n# ${name}\n([^]*?)\`\`\``).exec(document)?.[1];
  if (yaml === undefined) throw new Error(`docs/routing.md has no sample of ${name}`);
  const here = yaml
    .replaceAll(/^ {2}(\w+): \{ dialect: (\w+)(?:, base_url: [^,]+)?/gm, (_, name, dialect) => {
      const path = dialect === 'openai' ? '/v1' : '';
      return `  ${name}: { dialect: ${dialect}, base_url: "${url}/${name}${path}"`;
    })
    .replaceAll(/\$\{SECOND_API_KEY\}/g, '$' + '{HEADER_KEY}')
    .replaceAll(/\$\{\w+_API_KEY\}/g, '$' + '{PROVIDER_KEY}');
  return `server: { port: 0 }\n${here}${projects}`;
}

/** Asks once; who got it, as `provider model`, in order. */
async function choices(
  gateway: TestGateway,
  host: ScriptedHost,
  { path, body, session }: { readonly path: string; readonly body: object; readonly session?: string },
): Promise<readonly string[]> {
  const before = host.requests.length;
  const { status, body: answer } = await postRaw(gateway, path, body, [
    'content-type: application/json',
    `x-api-key: ${gateway.key}`,
    ...(session === undefined ? [] : [`x-gateway-session: ${session}`]),
  ]);
  expect(status, answer.toString()).toBe(200);
  return host.requests.slice(before).map(({ target, body: sent }) => {
    const inPath = /models\/([^:]+):/.exec(target)?.[1];
    return `${target.split('/')[1]} ${inPath ?? JSON.parse(sent.toString()).model}`;
  });
}

describe('the sample of claude-code-router', () => {
  interface Asked {
    readonly model: string;
    readonly words: number;
    readonly searches: boolean;
    readonly thinks: boolean;
  }

  /** In the order of its own function: too long, background, webSearch, think, default. */
  function expected({ model, words, searches, thinks }: Asked): string {
    if (words > 60_000) return 'openrouter google/gemini-2.5-pro-preview';
    if (model.includes('claude') && model.includes('haiku')) return 'ollama qwen2.5-coder:latest';
    if (searches) return 'gemini gemini-2.5-flash';
    return thinks ? 'deepseek deepseek-reasoner' : 'deepseek deepseek-chat';
  }

  test('chooses as that does', async () => {
    const host = await startHost(speakAll);
    const gateway = await startGateway(sample('claude-code-router', host));
    const random = createRandom(7);
    const seen = new Set<string>();

    for (let i = 0; i < 60; i += 1) {
      const asked: Asked = {
        model: random.of(['claude-sonnet-5', 'claude-haiku-5-5', 'claude-3-5-haiku-20241022', 'gpt-5']),
        words: random.of([5, 5_000, 5_000, 90_000]),
        searches: random.below(3) === 0,
        thinks: random.below(2) === 0,
      };
      const { model, words, searches, thinks } = asked;
      const body = {
        ...{ model, max_tokens: 2_000 },
        ...(searches && { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
        ...(thinks && { thinking: { type: 'enabled', budget_tokens: 1_024 } }),
        messages: [{ role: 'user', content: `${i} ${'word '.repeat(words)}` }],
      };

      const should = expected(asked);
      expect(await choices(gateway, host, { path: '/v1/messages', body }), JSON.stringify(asked)).toEqual([
        should,
      ]);
      seen.add(should);
    }
    expect(seen.size).toBe(5);
  });
});

describe('the sample of LiteLLM', () => {
  const path = '/v1/chat/completions';
  const bodyOf = (model: string, words = 1) => ({
    ...{ model, max_tokens: 9 },
    messages: [{ role: 'user', content: 'word '.repeat(words) }],
  });

  test('spreads one name over keys and hosts by weight, and sends others where they are', async () => {
    const host = await startHost(speakAll);
    const gateway = await startGateway(sample('LiteLLM', host));

    const asked: string[] = [];
    for (let i = 0; i < 150; i += 1)
      asked.push(...(await choices(gateway, host, { path, body: bodyOf('gpt-3.5-turbo') })));
    const keys = host.requests
      .filter(({ target }) => target.startsWith('/openai/'))
      .map(({ headers }) => headers.find(([name]) => name === 'authorization')?.[1]);
    const other = await choices(gateway, host, { path, body: bodyOf('mistral-7b-instruct') });
    const long = await choices(gateway, host, { path, body: bodyOf('gpt-3.5-turbo', 20_000) });

    const atOpenai = asked.filter((each) => each === 'openai gpt-3.5-turbo').length;
    expect(new Set(asked)).toEqual(new Set(['openai gpt-3.5-turbo', 'openrouter openai/gpt-3.5-turbo']));
    expect(atOpenai / asked.length).toBeGreaterThan(0.5);
    expect(atOpenai / asked.length).toBeLessThan(0.83);
    expect(new Set(keys)).toEqual(
      new Set([`Bearer ${secrets.PROVIDER_KEY}`, `Bearer ${secrets.HEADER_KEY}`]),
    );
    expect(other).toEqual(['openrouter mistralai/mistral-7b-instruct']);
    expect(long).toEqual(['openai gpt-4.1']);
  });

  test('falls back to the other model', async () => {
    const host = await startHost((response, request) => {
      const isFirst = request.body.includes('gpt-3.5-turbo');
      return isFirst
        ? json('{"error":{"message":"down"}}', 500)(response, request)
        : speakAll(response, request);
    });
    const gateway = await startGateway(sample('LiteLLM', host));

    const asked = await choices(gateway, host, { path, body: bodyOf('gpt-3.5-turbo'), session: 's' });

    expect(asked).toHaveLength(2);
    expect(asked[1]).toBe('openai gpt-4');
  });
});
