import { expect, test } from 'vitest';
import { requestFor } from '../kit/answers.ts';
import { projects, secrets, startGateway } from '../kit/gateway.ts';
import { head, sendRaw } from '../kit/raw.ts';

// What a browser, or a desktop program with a browser's engine, needs of the gateway to let a page call it.

const gateway = await startGateway(`
server: { port: 0, allowed_origins: ["https://app.example.com", "app://obsidian.md", "tauri://localhost"] }
${projects}`);
const url = `${gateway.url}/v1/chat/completions`;
const asks = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,x-stainless-os',
};

test.each(['https://app.example.com', 'app://obsidian.md', 'tauri://localhost'])(
  '%s may call',
  async (origin) => {
    const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin, ...asks } });
    const answer = await fetch(url, {
      method: 'POST',
      headers: { origin, authorization: `Bearer ${secrets.PROJECT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(requestFor('chat', 'sandbox-mini')),
    });
    const refused = await fetch(url, { method: 'POST', headers: { origin } });

    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toBe(
      asks['access-control-request-headers'],
    );
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
    expect([answer.status, refused.status]).toEqual([200, 401]);
    // Only what was asked for is recorded, not the question whether it may be.
    const records = await gateway.recorded(2);
    expect(records.map(({ method }) => method)).not.toContain('OPTIONS');
    for (const { headers } of [preflight, answer, refused])
      expect(headers.get('access-control-allow-origin')).toBe(origin);
  },
);

test('a page of another origin may not, and learns nothing', async () => {
  const origin = 'https://evil.example';

  const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin, ...asks } });

  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null]);
});

test('a preflight with a foreign Host is refused', async () => {
  const lines = ['OPTIONS /v1/models HTTP/1.1', 'Host: evil.example', 'Origin: app://obsidian.md'];
  const more = ['Access-Control-Request-Method: GET', 'Connection: close'];

  const answer = await sendRaw(gateway.port, head(...lines, ...more));

  expect(answer.status).toBe(421);
});
