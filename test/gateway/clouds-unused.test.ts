import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startProgram } from '../kit/child.ts';
import { emptyDirectory } from '../kit/command.ts';
import { anthropicClient, openaiClient, secrets } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';

const ofClouds = /\/(?:aws|azure|google|bearer|credential-cache|event-streams?)-[\w-]{8}\.js$/;

/** The files of the program that a process loaded, by V8's own account. */
function loadedFiles(folder: string): readonly string[] {
  const reports = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const urls: string[] = reports.flatMap(({ result }) => result.map(({ url }: { url: string }) => url));
  return urls.filter((url) => url.includes('/dist/'));
}

async function serveWith(
  provider: string,
  ask: (url: string) => Promise<unknown>,
): Promise<readonly string[]> {
  const home = emptyDirectory();
  const folder = join(home, 'loaded');
  writeFileSync(
    join(home, 'gateway.yaml'),
    `
providers: { one: { ${provider}, retries: { attempts: 1 } } }
models: [{ match: "*", provider: one }]
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
plants: { store: { enabled: false } }
`,
    { mode: 0o600 },
  );
  const program = startProgram(['serve', '-p', '0', '--no-watch'], home, {
    PROJECT_KEY: secrets.PROJECT_KEY,
    PROVIDER_KEY: secrets.PROVIDER_KEY,
    NODE_V8_COVERAGE: folder,
  });
  await program.wrote('127.0.0.1:');
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(program.text('stdout') + program.text('stderr')) ?? [];
  await ask(url).catch(() => undefined); // whatever the host says
  program.process.kill('SIGTERM');
  await program.ended;
  return loadedFiles(folder);
}

test('nothing of the clouds is loaded by those who use none', { timeout: 60_000 }, async () => {
  const host = await startHost((response) => response.writeHead(500).end('{}'));
  const messages = [{ role: 'user' as const, content: 'hello' }];
  const key = secrets.PROJECT_KEY;

  const without = await serveWith(`dialect: openai, base_url: "${host.url}/v1"`, (url) =>
    openaiClient({ url, key }).chat.completions.create({ model: 'm', messages }),
  );
  const signed = await serveWith(
    `dialect: bedrock, base_url: "${host.url}", credentials: aws, region: us-east-1`,
    (url) => anthropicClient({ url, key }).messages.create({ model: 'm', max_tokens: 9, messages }),
  );

  expect(without.length).toBeGreaterThan(10);
  expect(host.requests).toHaveLength(1);
  expect(without.filter((file) => ofClouds.test(file))).toEqual([]);
  // That they would be found, and what is not needed for this cloud.
  expect(signed.some((file) => /\/aws-[\w-]{8}\.js$/.test(file))).toBe(true);
  expect(signed.filter((file) => /\/(?:azure|google)-[\w-]{8}\.js$/.test(file))).toEqual([]);
});
