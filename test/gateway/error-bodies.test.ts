import { afterAll, beforeAll, expect, test } from 'vitest';
import { json, requestFor } from '../kit/answers.ts';
import { post, startGateway, type TestGateway } from '../kit/gateway.ts';
import { type ScriptedHost, startHost } from '../kit/host.ts';

let host: ScriptedHost;
let gateway: TestGateway;

beforeAll(async () => {
  host = await startHost(() => undefined);
  gateway = await startGateway(`
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat, responses, embeddings] }
  claude: { dialect: anthropic, base_url: "${host.url}" }
models: [{ match: claude, provider: claude }, { match: m, provider: host }]
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
});
afterAll(async () => {
  await gateway.stop();
  await host.close();
});

const requests = {
  messages: ['/v1/messages', requestFor('messages', 'claude')],
  chat: ['/v1/chat/completions', requestFor('chat', 'm')],
  responses: ['/v1/responses', requestFor('responses', 'm')],
  embeddings: ['/v1/embeddings', { model: 'm', input: 'hello' }],
} as const;

const strange = [
  ['"oops"', 'oops'],
  ['[]', 'the provider answered with 422'],
  ['{}', 'the provider answered with 422'],
  ['null', 'the provider answered with 422'],
  ['{"detail":"too long"}', 'too long'],
  ['{"detail":[{"msg":"field required"}]}', 'field required'],
  ['{"error":"no such model"}', 'no such model'],
  ['{"error":{}}', 'the provider answered with 422'],
] as const;

test.each(
  Object.entries(requests).flatMap(([dialect, request]) =>
    strange.map(([body, message]) => ({ dialect, request, body, message })),
  ),
)('$body becomes the error of $dialect', async ({ dialect, request: [path, value], body, message }) => {
  host.script(json(body, 422));

  const answer = await post(gateway, path, value);
  const { type, error } = (await answer.json()) as { type?: string; error: Record<string, unknown> };

  expect(answer.status).toBe(422);
  expect(error).toMatchObject({ type: 'invalid_request_error', message });
  expect(type).toBe(dialect === 'messages' ? 'error' : undefined);
});

test.each([
  ['messages', '{ "type":"error","error":{"type":"api_error","message":"no", "x":1.0}}'],
  ['chat', '{ "error":{"message":"no", "x":1.0}}'],
] as const)('an error of %s passes as it is', async (dialect, body) => {
  host.script(json(body, 422));
  const [path, value] = requests[dialect];

  expect(await (await post(gateway, path, value)).text()).toBe(body);
});
