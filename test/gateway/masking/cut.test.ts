import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { pathFor } from '../../kit/answers.ts';
import { textDialects } from '../../kit/dialects.ts';
import { post, secrets } from '../../kit/gateway.ts';
import { scale } from '../../kit/scale.ts';
import { maskedGateway } from './masked-gateway.ts';
import { bodies, eventsOf, letters } from './saying.ts';

const { host, gateway } = await maskedGateway();

/** A host that breaks off within the placeholder of the address, which comes letter by letter. */
function cutWithin(provider: TextDialectName): void {
  host.script((response, { body }) => {
    const [placeholder = 'none'] = /EMAIL_[A-Z]{13}/.exec(body.toString()) ?? [];
    const events = eventsOf(provider, { text: `Write to ${placeholder}` }, letters);
    const first = events.findIndex((event) => event.includes('"E"'));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.slice(0, first + 15).join(''), () => response.destroy());
  });
}

/** What came, whether or not the connection was cut behind the error. */
async function untilCut({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
  } catch {}
  return Buffer.concat(chunks).toString();
}

/** The texts of all events, one behind the other, wherever a dialect has them. */
function textsOf(came: string): string {
  const pieces = came.matchAll(/"(?:text|content|delta)":"((?:[^"\\]|\\.)*)"/g);
  return [...pieces].map(([, piece = '']) => piece).join('');
}

/** Each dialect as both, with itself and with another, or all. */
const pairs = textDialects.flatMap((client, at) =>
  textDialects
    .filter((_, other) => scale((other - at + 4) % 4 < 2, true))
    .map((provider) => ({ client, provider })),
);

describe.each(pairs)('a $client client at a $provider provider', ({ client, provider }) => {
  test.each(['', '«second "quoted"»'])(
    'is shown no half of a placeholder in which the answer broke off: %j',
    async (more) => {
      cutWithin(provider);
      const model = `at-${provider}`;
      const body = {
        ...(client !== 'gemini' && { model, stream: true }),
        ...bodies[client](`ann@example.com ${more}`),
      };
      const init = { headers: { authorization: `Bearer ${secrets.PROJECT_KEY}` } };

      const came = await untilCut(await post(gateway, pathFor(client, model, true), body, init));

      expect(textsOf(came)).toMatch(/^Write to /);
      expect(textsOf(came).slice('Write to '.length)).not.toMatch(/^E|EMAIL|ann/);
      expect(came).toContain('provider.broken_response');
    },
  );
});
