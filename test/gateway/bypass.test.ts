import { afterAll, describe, expect, test } from 'vitest';
import { json } from '../kit/answers.ts';
import { dialectNames } from '../kit/dialects.ts';
import { secrets } from '../kit/gateway.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { head, type RawAnswer, sendRaw } from '../kit/raw.ts';
import { type Bypass, saying, targetOf } from './bypass/case.ts';
import { forgottenFields } from './bypass/forgotten-fields.ts';
import { houseConfig } from './bypass/house.ts';
import { joinedTexts } from './bypass/joined-texts.ts';
import { modelsAndCaps } from './bypass/models-and-caps.ts';
import { opaqueContent } from './bypass/opaque.ts';
import { clientSwitches } from './bypass/switches.ts';
import { otherBytes } from './bypass/wire.ts';

const classes: Readonly<Record<string, readonly Bypass[]>> = {
  'fields that scanners forget': forgottenFields,
  'model, cap and tool tricks': modelsAndCaps,
  splits: joinedTexts,
  'other bytes': otherBytes,
  'client switches': clientSwitches,
  'opaque and unseen content': opaqueContent,
};

const { anthropic, openai, gateway } = await startHosts(json('{"data":[]}'), houseConfig);

function send(bypass: Bypass): Promise<RawAnswer> {
  const body = Buffer.from(bypass.raw ?? JSON.stringify(bypass.body));
  const key = bypass.key === 'strict' ? secrets.OTHER_KEY : secrets.PROJECT_KEY;
  const lines = [
    `POST ${bypass.target ?? targetOf(bypass.endpoint)} HTTP/1.1`,
    'Host: 127.0.0.1',
    `x-api-key: ${key}`,
    'Content-Type: application/json',
    ...(bypass.headers ?? []),
    ...(bypass.framing ?? [`Content-Length: ${body.length}`]),
  ];
  return sendRaw(gateway.port, head(...lines), body);
}

function forwarded(): number {
  return openai.requests.length + anthropic.requests.length;
}

for (const [name, cases] of Object.entries(classes)) {
  describe(`${name} can't be used to talk past the policy`, () => {
    test.each(cases.map((bypass) => [bypass.name, bypass] as const))('%s', async (_name, bypass) => {
      const before = forwarded();

      const answer = await send(bypass);

      const { error } = JSON.parse(answer.body.toString());
      const [info] = error?.details ?? [];
      const { status, reason, at } = bypass.expect;
      expect({
        status: answer.status,
        reason: error?.reason ?? info?.reason,
        forwarded: forwarded() - before,
      }).toEqual({
        status,
        reason,
        forwarded: 0,
      });
      if (at !== undefined) expect(error.param ?? info.metadata.param).toBe(at);
      expect(answer.headers.get('x-should-retry')).toEqual(['false']);
      expect(answer.headers.get('x-gateway-error')).toEqual(['true']);
      expect(error.message).not.toMatch(/nightfall|4111/i);
    });
  });
}

test.each(dialectNames)(
  '%s: the same request without the forbidden text passes, so it is the policy that refused',
  async (endpoint) => {
    const before = forwarded();

    const answer = await send({
      name: '',
      endpoint,
      body: saying(endpoint, 'hello'),
      expect: { status: 200, reason: '' },
    });

    expect([answer.status, forwarded() - before]).toEqual([200, 1]);
  },
);

afterAll(() => {
  const records = JSON.stringify(gateway.records);
  expect(records).not.toMatch(/nightfall|4111.?1111/i);
  for (const secret of Object.values(secrets)) expect(records).not.toContain(secret);
});
