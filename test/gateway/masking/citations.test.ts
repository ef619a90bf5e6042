import { expect, test } from 'vitest';
import { post, secrets } from '../../kit/gateway.ts';
import { maskedGateway } from './masked-gateway.ts';
import { saying } from './saying.ts';

const { host, gateway } = await maskedGateway();

const url = 'https://a.example';
const cited = (title: string) => ({ type: 'char_location', cited_text: title, document_title: title });
const annotation = (title: string) => ({ type: 'url_citation', url_citation: { title, url } });

test.each([
  {
    dialect: 'messages',
    path: '/v1/messages',
    before: 'event: content_block_stop',
    event: (title: string) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'citations_delta', citation: cited(title) },
    }),
  },
  {
    dialect: 'chat',
    path: '/v1/chat/completions',
    before: 'data: [DONE]',
    event: (title: string) => ({
      choices: [{ index: 0, delta: { annotations: [annotation(title)] }, finish_reason: null }],
    }),
  },
  {
    dialect: 'responses',
    path: '/v1/responses',
    before: 'event: response.output_text.done',
    event: (title: string) => ({
      type: 'response.output_text.annotation.added',
      item_id: 'm_1',
      output_index: 0,
      annotation: { type: 'url_citation', title, url },
    }),
  },
])('a citation that is streamed has the values again: $dialect', async ({ dialect, path, before, event }) => {
  host.script((response, request) => {
    let title = '';
    const end = response.end.bind(response);
    const cite = (body: unknown) => {
      const data = event(title);
      const name = 'type' in data ? `event: ${data.type}\n` : '';
      return String(body).replace(before, (found) => `${name}data: ${JSON.stringify(data)}\n\n${found}`);
    };
    response.end = ((body: unknown) => end(cite(body))) as typeof response.end;
    saying((heard) => {
      title = heard;
      return { text: heard };
    })(response, request);
  });
  const said = 'ann@example.com and «quote " \\ »';
  const turns = [{ role: 'user', content: said }];
  const body = {
    model: `at-${dialect}`,
    max_tokens: 9,
    stream: true,
    ...(dialect === 'responses' ? { input: said } : { messages: turns }),
  };
  const events = async (key: string) => {
    const response = await post(gateway, path, body, { headers: { authorization: `Bearer ${key}` } });
    return [...(await response.text()).matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  };

  const [plain, masked] = [await events(secrets.OTHER_KEY), await events(secrets.PROJECT_KEY)];

  expect(masked).toEqual(plain);
  expect(masked).toContainEqual(event(said));
  expect(host.requests.at(-1)?.body.toString()).not.toMatch(/ann@|quote/);
});
