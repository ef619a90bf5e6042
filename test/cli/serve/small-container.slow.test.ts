import { request as httpRequest } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { messagesAnswer } from '../../kit/answers.ts';
import { hasMemoryGroups, makeMemoryGroup } from '../../kit/memory-group.ts';
import { host, keys, serve } from './workers/serving.ts';

const mebibyte = 1_048_576;
const keyNames = ['ONE', 'TWO', 'THREE', 'FOUR'] as const;
const keyNamed = (name: string) => `a-project-key-number-${name}`;
const env = {
  ...keys,
  ...Object.fromEntries(keyNames.map((name) => [name, keyNamed(name)])),
};

const configuration = (url: string, workers: number) => `
server: { workers: ${workers} }
providers: { claude: { dialect: anthropic, base_url: "${url}" } }
models: [{ match: "*", provider: claude }]
policies:
  house:
    apply: all
    rules:
      - { id: secrets, action: redact, when: { text: { detect: [secrets, private_key, email] } }, reason: content.secret }
projects:
  shop: { keys: [{ id: shop-web, value: "\${SHOP_KEY}" }] }
  large: { keys: [${keyNames.map((name) => `{ id: ${name}, value: "\${${name}}" }`)}] }
`;

const asking = (content: unknown) =>
  JSON.stringify({ model: 'claude-test', max_tokens: 9, messages: [{ role: 'user', content }] });

/** Bodies that take much memory, each in a way of its own. */
const bodies = {
  text: (bytes: number) => asking('The quick brown fox jumps over the lazy dog. '.repeat(bytes / 45)),
  picture: (bytes: number) =>
    asking([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AbCd'.repeat(bytes / 4) } },
    ]),
  secrets: (bytes: number) =>
    asking(
      Array.from(
        { length: bytes / 60 },
        (_, i) => `mail user${i}@example.com, key AKIA${`${i}`.padStart(16, 'Q7')}`,
      ).join('\n'),
    ),
  parts: (bytes: number) => asking(Array.from({ length: bytes / 28 }, () => ({ type: 'text', text: 'a' }))),
  foreign: (bytes: number) => asking('Grüße 你好 мир '.repeat(bytes / 28)),
};

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** On a connection of its own; it fails if that is cut before an answer comes. */
function ask(url: string, key: string, body: string): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'x-gateway-key': key,
      'content-length': Buffer.byteLength(body),
    };
    const request = httpRequest(
      `${url}/v1/messages`,
      { method: 'POST', agent: false, headers },
      (response) => {
        let text = '';
        // Whoever is refused may still be sending when the connection ends.
        const done = () => resolve({ status: response.statusCode ?? 0, text });
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', done);
        response.on('error', done);
        request.on('error', done);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

describe.skipIf(!hasMemoryGroups)(
  'a gateway in a container (skipped where no memory group can be made)',
  () => {
    test.each([
      { memory: 256, mebibytes: 1, workers: 1 },
      { memory: 256, mebibytes: 7, workers: 1 },
      { memory: 256, mebibytes: 7, workers: 2 },
      { memory: 512, mebibytes: 6, workers: 2 },
      { memory: 512, mebibytes: 15, workers: 1 },
    ])(
      'of $memory MiB survives 40 bodies of $mebibytes MiB at once with workers: $workers, and serves others',
      async ({ memory, mebibytes, workers }) => {
        const group = makeMemoryGroup(memory);
        if (group === undefined) throw new Error('no group of processes could be made');
        const { url } = await host((response) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(messagesAnswer);
        });
        const gateway = await serve(configuration(url, workers), ['--log', 'json'], env, group.path);
        onTestFinished(async () => {
          gateway.child.process.kill('SIGKILL');
          await gateway.child.ended;
          await expect.poll(() => tryRemove(group.remove)).toBe(true);
        });
        const large = Object.values(bodies).map((make) => make(mebibytes * mebibyte - 1_000));
        const small: number[] = [];
        let isOver = false;
        const others = (async () => {
          while (!isOver) small.push((await ask(gateway.url, keys.SHOP_KEY, asking('hi'))).status);
        })();

        const answered = await Promise.all(
          Array.from({ length: 40 }, (_, i) =>
            ask(gateway.url, keyNamed(keyNames[i % 4] ?? ''), large[i % large.length] ?? ''),
          ),
        );
        isOver = true;
        await others;

        expect(group.kills()).toBe(0);
        expect(gateway.child.process.exitCode).toBeNull();
        expect(new Set(small)).toEqual(new Set([200]));
        const statuses = new Set(answered.map(({ status }) => status));
        expect([...statuses].filter((status) => ![200, 403, 503].includes(status))).toEqual([]);
        expect(statuses.has(200)).toBe(true);
      },
      180_000,
    );

    test('says why a body is too large, and what would help', async () => {
      const group = makeMemoryGroup(256);
      if (group === undefined) throw new Error('no group of processes could be made');
      const gateway = await serve(configuration('http://127.0.0.1:9', 4), [], env, group.path);
      onTestFinished(async () => {
        gateway.child.process.kill('SIGKILL');
        await gateway.child.ended;
        await expect.poll(() => tryRemove(group.remove)).toBe(true);
      });

      const { status, text } = await ask(gateway.url, keys.SHOP_KEY, bodies.text(9 * mebibyte));

      expect([status, text]).toEqual([
        413,
        expect.stringContaining('larger than 8388608 bytes (as there are 256 MiB of memory'),
      ]);
      expect(gateway.child.text('stderr')).toContain('1 process serves in place of server.workers: 4');
    }, 60_000);
  },
);

/** A group goes only once its last process has. */
function tryRemove(remove: () => void): boolean {
  try {
    remove();
    return true;
  } catch {
    return false;
  }
}
