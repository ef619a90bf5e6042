import { expect, test } from 'vitest';
import { pathFor } from '../kit/answers.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import { textDialects } from '../kit/dialects.ts';
import { post, projects, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';
import { bodies, eventsOf } from './masking/saying.ts';

// A picture comes whole in one event.

const host = await startHost((response) => response.writeHead(500).end());
const configuration = (limits = '') => `
server: { limits: { body_size: 1MiB${limits} } }
providers:
${providersAt(host.url)}
models:
${modelsAt('at-', { model: 'm' })}
${projects}`;
const roomy = await startGateway(configuration());
const tight = await startGateway(configuration(', bodies_in_flight: 2MiB'));

/** A stream whose first event is large, in pieces as a network brings them. */
function script(dialect: (typeof textDialects)[number]): string {
  const text = `data: {"picture":"${'QUJD'.repeat(1_000_000)}"}\n\n${eventsOf(dialect, { text: 'hi' }).join('')}`;
  host.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let at = 0; at < text.length; at += 65_536) response.write(text.slice(at, at + 65_536));
    response.end();
  });
  return text;
}

async function ask(gateway: typeof roomy, dialect: (typeof textDialects)[number]): Promise<string> {
  const model = `at-${dialect}`;
  const body = { ...(dialect !== 'gemini' && { model, stream: true }), ...bodies[dialect]('hello') };
  const answer = await post(gateway, pathFor(dialect, model, true), body);
  return answer.text().catch(() => 'cut');
}

test.each(textDialects)('an event of 4 MB passes a %s stream byte for byte', async (dialect) => {
  const sent = script(dialect);

  expect((await ask(roomy, dialect)) === sent).toBe(true);
});

test.each(textDialects)(
  'and a %s stream ends with an error where there is no memory for it',
  async (dialect) => {
    script(dialect);

    const came = await ask(tight, dialect);

    expect(came.length).toBeLessThan(10_000);
    expect(tight.records.at(-1)).toMatchObject({ reason: 'gateway.overloaded' });
  },
);
