import { describe, expect, test } from 'vitest';
import { anthropicClient, openaiClient, secrets } from '../../kit/gateway.ts';
import { maskedGateway } from './masked-gateway.ts';
import {
  type Cut,
  type Dialect,
  dialects,
  letters,
  type SdkDialect,
  saying,
  sdkDialects,
  whole,
} from './saying.ts';

const running = maskedGateway({
  rules: [
    '{ id: emails, action: mask, when: { text: { detect: [email] } }, reason: content.email }',
    '{ id: keys, action: mask, when: { text: { detect: [secrets] } }, reason: content.secret }',
    "{ id: names, action: mask, when: { text: { regex: ['«[^»]*»'] } }, placeholder: CUSTOMER }",
  ],
  others: {
    areAlone: false,
    rules: [
      '{ id: codename, action: block, apply_to: [response], when: { text: { phrases: ["email", "nightfall"], match: exact } } }',
      "{ id: answers, action: redact, apply_to: [response], when: { text: { regex: ['[A-Z]{12,}', 'ann@[a-z.]+'] } } }",
    ],
  },
});

interface Heard {
  readonly text: string;
  readonly thinking: string;
  readonly input: unknown;
}

/** Asks with the dialect's official SDK. */
async function ask(
  client: SdkDialect,
  provider: Dialect,
  { key = secrets.PROJECT_KEY, text, isStream }: { key?: string; text: string; isStream: boolean },
): Promise<Heard> {
  const model = `at-${provider}`;
  const caller = { url: running.gateway.url, key };
  const parameters = { type: 'object', properties: {} } as const;
  if (client === 'messages') {
    const request = {
      model,
      max_tokens: 64,
      messages: [{ role: 'user' as const, content: text }],
      tools: [{ name: 'run', input_schema: parameters }],
    };
    const { messages } = anthropicClient(caller);
    const { content } = await (isStream ? messages.stream(request).finalMessage() : messages.create(request));
    return {
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      // Here it may be signed, so it stays as the provider sent it.
      thinking: '',
      input: content.find((block) => block.type === 'tool_use')?.input,
    };
  }
  if (client === 'chat') {
    const request = {
      model,
      messages: [{ role: 'user' as const, content: text }],
      tools: [{ type: 'function' as const, function: { name: 'run', parameters } }],
    };
    const { completions } = openaiClient(caller).chat;
    let thinking = '';
    const stream = isStream ? completions.stream(request) : undefined;
    stream?.on('chunk', ({ choices }) => {
      thinking += (choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
    });
    const completion = await (stream === undefined
      ? completions.create(request)
      : stream.finalChatCompletion());
    const message = completion.choices[0]?.message;
    const made = message?.tool_calls?.[0];
    return {
      text: message?.content ?? '',
      thinking: isStream ? thinking : ((message as { reasoning_content?: string }).reasoning_content ?? ''),
      input: made?.type === 'function' ? JSON.parse(made.function.arguments) : undefined,
    };
  }
  const request = {
    model,
    input: text,
    tools: [{ type: 'function' as const, name: 'run', parameters, strict: false }],
  };
  const { responses } = openaiClient(caller);
  const { output } = await (isStream ? responses.stream(request).finalResponse() : responses.create(request));
  const [made] = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
  return {
    text: output
      .flatMap((item) => (item.type === 'message' ? item.content : []))
      .map((part) => (part.type === 'output_text' ? part.text : ''))
      .join(''),
    thinking: output
      .flatMap((item) => (item.type === 'reasoning' ? item.summary : []))
      .map((part) => part.text)
      .join(''),
    input: made === undefined ? undefined : JSON.parse(made.arguments),
  };
}

const values = [
  'ann@example.com',
  'sk-proj-abc123def456ghi789jkl012mno345pqr678stu901vwx234',
  '«quote " and \\ backslash»',
  '«lines\n\tand\r\n🌿 émoji \u0000»',
  '«x»',
  '«ann@example.com inside»',
];
const text = `first ${values.join(' then ')} end`;
const pairs = sdkDialects.flatMap((client) => dialects.map((provider) => ({ client, provider })));
const cuts: Readonly<Record<string, Cut>> = {
  whole,
  letters,
  sevens: (long) => long.match(/[\s\S]{1,7}/g) ?? [''],
};

describe.each(pairs)('a $client client at a $provider provider', ({ client, provider }) => {
  test.each([
    { form: 'plain', cut: 'whole' },
    ...Object.keys(cuts).map((cut) => ({ form: 'streamed', cut })),
  ])('gets the values back that never left: $form, $cut', async ({ form, cut }) => {
    const isStream = form === 'streamed';
    running.host.script(
      saying(
        (heard) => ({
          text: `I heard ${heard}`,
          thinking: `He said ${heard}`,
          input: JSON.stringify({ command: `echo '${heard}'`, nested: JSON.stringify({ deep: [heard] }) }),
        }),
        cuts[cut],
      ),
    );
    const before = running.host.requests.length;

    const plain = await ask(client, provider, { key: secrets.OTHER_KEY, text, isStream });
    const masked = await ask(client, provider, { text, isStream });

    expect(masked).toEqual(plain);
    expect(masked.text).toBe(`I heard ${text}`);
    const [open = '', closed = ''] = running.host.requests.slice(before).map(({ body }) => body.toString());
    expect(open).toContain('ann@example.com');
    for (const value of values) expect(closed).not.toContain(JSON.stringify(value).slice(1, -1));
    expect(closed).toMatch(/EMAIL_[A-Z]{13}/);
  });
});

test('rules on answers judge what the provider said, but nothing within a placeholder', async () => {
  const judged = () =>
    ask('messages', 'messages', { key: secrets.OLD_KEY, text: 'ann@example.com', isStream: true });
  running.host.script(saying((heard) => ({ text: `${heard} ABCDEFGHIJKLMNOP` }), letters));

  const { text: got } = await judged();

  expect(got).toBe('ann@example.com [REDACTED:policy.blocked]');
  // The same value from the provider itself.
  running.host.script(saying((heard) => ({ text: `${heard} or ann@example.com` }), letters));
  expect((await judged()).text).toBe('ann@example.com or [REDACTED:policy.blocked]');
  running.host.script(saying((heard) => ({ text: `${heard} nightfall` }), letters));
  await expect(judged()).rejects.toThrow('codename');
});

test('the record has numbers by kind and no values', async () => {
  running.host.script(
    saying((heard) => ({ text: `${heard}, ${heard} and ${heard.toLowerCase()}` }), letters),
  );
  const before = running.gateway.records.length;

  await ask('chat', 'chat', { text: 'ann@example.com', isStream: true });

  const record = (await running.gateway.recorded(before + 1)).at(-1);
  expect(record).toMatchObject({
    decision: 'mask',
    body: 'masked',
    masked: { EMAIL: 1 },
    restored: { EMAIL: 2 },
    broken_placeholders: { EMAIL: 1 },
  });
  expect(JSON.stringify(record)).not.toContain('ann@');
});

test.each([
  // Placeholders have no other case.
  { change: 'upper case', as: (text: string) => text.toUpperCase(), isRestored: true },
  { change: 'lower case', as: (text: string) => text.toLowerCase(), isRestored: false },
  {
    change: 'a capital at its beginning',
    as: (text: string) => text.charAt(0) + text.slice(1).toLowerCase(),
    isRestored: false,
  },
])('a placeholder that comes back in $change: restored $isRestored', async ({ as, isRestored }) => {
  for (const cut of [whole, letters]) {
    let sent = '';
    running.host.script(
      saying((heard) => {
        sent = as(heard);
        return { text: sent };
      }, cut),
    );
    const before = running.gateway.records.length;

    const { text } = await ask('chat', 'chat', { text: 'ann@example.com', isStream: true });

    const record = (await running.gateway.recorded(before + 1)).at(-1);
    expect(text).toBe(isRestored ? 'ann@example.com' : sent);
    expect(record?.restored).toEqual(isRestored ? { EMAIL: 1 } : undefined);
    expect(record?.broken_placeholders).toEqual(isRestored ? undefined : { EMAIL: 1 });
  }
});

test('a conversation that the provider keeps is refused, with what to do', async () => {
  const { responses } = openaiClient({ url: running.gateway.url, key: secrets.PROJECT_KEY });
  const before = running.host.requests.length;

  const asked = responses.create({ model: 'at-responses', input: 'hello', previous_response_id: 'resp_1' });

  await expect(asked).rejects.toThrow('send the whole conversation instead');
  expect(running.host.requests.length).toBe(before);
});

test('a request with nothing to mask and its answer pass byte for byte', async () => {
  running.host.script(saying(() => ({ text: 'EMAIL_ABCDEFGHIJKLM and EMAI' }), letters));
  const body =
    '{ "model": "m",  "max_tokens": 9, "stream": true, "messages": [{"role":"user","content":"h\\u00e9llo"}]}';
  const send = (key: string, model: string) =>
    fetch(`${running.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: body.replace('"m"', JSON.stringify(model)),
    });

  const [open, masked] = [
    await send(secrets.OTHER_KEY, 'at-messages'),
    await send(secrets.PROJECT_KEY, 'at-messages'),
  ];

  expect(masked.headers.get('x-gateway-body')).toBe('spliced');
  expect(await masked.text()).toBe(await open.text());
  const [first, second] = running.host.requests.slice(-2).map((request) => request.body.toString());
  expect(second).toBe(first);
});
