import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CloudHost, headerOf, startClouds } from '../kit/cloud-host.ts';
import { command } from '../kit/command.ts';
import { post, projects, secrets, startGateway, type TestGateway } from '../kit/gateway.ts';

// Credentials that end, are revoked, are for another region, or can't be had; by the vendors' own chains. Azure's are
// those of a command `az`: what a managed identity gave is kept by Microsoft's package for the whole process.

const isInstalled =
  existsSync(join(import.meta.dirname, 'node_modules')) && process.env.NODE_PATH !== undefined;
const hello = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };
const minuteMs = 60_000;

describe.skipIf(!isInstalled)('clouds', () => {
  let cloud: CloudHost;
  let gateway: TestGateway;
  let yaml: string;
  const before = { ...process.env };
  const ask = (model: string) => post(gateway, '/v1/messages', { ...hello, model });
  let folder: string;
  const realNow = Date.now;
  let laterMs = 0;
  /** How often credentials were fetched. */
  const fetches = () =>
    cloud.requests.length - cloud.calls.length + readFileSync(join(folder, 'az.log'), 'utf8').length;
  /** What `az` says from now on. */
  const useEntra = (token: string) => {
    cloud.state.entra = token;
    const expires_on = Math.floor(Date.now() / 1_000) + cloud.state.lifeS;
    const said = { accessToken: token, expires_on, tokenType: 'Bearer' };
    writeFileSync(join(folder, 'az.json'), JSON.stringify(said));
  };
  const causeOf = async () => {
    const record = await gateway.recordWhere(({ cause }) => cause !== undefined);
    return record.cause ?? '';
  };

  beforeAll(async () => {
    cloud = await startClouds();
    folder = mkdtempSync(join(tmpdir(), 'gateway-clouds-'));
    const az = `#!/bin/sh\nprintf x >> ${folder}/az.log\nexec cat ${folder}/az.json\n`;
    writeFileSync(join(folder, 'az'), az, { mode: 0o700 });
    writeFileSync(join(folder, 'az.log'), '');
    useEntra('entra-token-0123456789');
    Object.assign(process.env, cloud.envIn(folder), {
      AZURE_TOKEN_CREDENTIALS: 'AzureCliCredential',
      PATH: `${folder}:${process.env.PATH}`,
    });
    const retries = 'retries: { attempts: 2 }';
    yaml = `
providers:
  bedrock: { dialect: bedrock, base_url: "${cloud.url}", credentials: aws, region: us-east-1, ${retries} }
  abroad: { dialect: bedrock, base_url: "${cloud.url}", credentials: aws, region: eu-west-1, ${retries} }
  vertex: { dialect: vertex, base_url: "${cloud.url}/v1/projects/p/locations/us-east5", credentials: google, ${retries} }
  foundry: { dialect: anthropic, base_url: "${cloud.url}/anthropic", credentials: azure, ${retries} }
models:
  - { match: bedrock, provider: bedrock, model: "anthropic.claude-test-v1:0" }
  - { match: abroad, provider: abroad, model: "anthropic.claude-test-v1:0" }
  - { match: vertex, provider: vertex, model: claude-test }
  - { match: foundry, provider: foundry, model: claude-test }
${projects}`;
  });
  beforeEach(async () => {
    // The credentials' age and the signatures' time.
    laterMs = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => realNow() + laterMs);
    gateway = await startGateway(yaml);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    cloud.interrupt(undefined);
    cloud.state.clockOffMs = 0;
    await gateway.stop();
  });
  afterAll(async () => {
    process.env = before;
    await cloud?.close();
  });

  test.each([
    [
      'bedrock',
      () => Object.assign(cloud.state.aws, { id: 'AKIDNEXT', token: 'aws-session-token-next-0123456789' }),
    ],
    ['vertex', () => Object.assign(cloud.state, { google: 'google-token-next-0123456789' })],
    ['foundry', () => useEntra('entra-token-next-0123456789')],
  ])('%s: revoked credentials are fetched anew, and the client notices nothing', async (model, revoke) => {
    expect((await ask(model)).status).toBe(200);
    const fetched = fetches();
    revoke();
    laterMs = 2 * minuteMs;

    const answer = await ask(model);

    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-attempts')).toBe('2');
    expect(fetches()).toBeGreaterThan(fetched);
    expect((await ask(model)).headers.get('x-gateway-attempts')).toBe('1');
  });

  test.each(['bedrock', 'vertex', 'foundry'])(
    '%s: twenty requests at once fetch credentials once',
    async (model) => {
      const fetched = fetches();

      const answers = await Promise.all(Array.from({ length: 20 }, () => ask(model)));

      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(fetches() - fetched).toBe(1);
    },
  );

  test('credentials that are refused although they are new are not asked for again, and the record says why', async () => {
    const answer = await ask('abroad');

    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({
      error: { message: "provider abroad rejected the gateway's credentials" },
    });
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect((await gateway.recorded(1))[0]?.attempts).toBe(1);
    expect(await causeOf()).toContain('Credential should be scoped to a valid region');
  });

  test("doctor makes the cheapest call to each, with the account's own model, and says what the clouds do", {
    timeout: 30_000,
  }, async () => {
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, yaml, { mode: 0o600 });
    const env = { ...secrets, HOME: folder };
    const doctor = async () =>
      (await command(['doctor', '-c', file, '-o', 'json'], { cwd: folder, env })).stdout;
    const begin = cloud.calls.length;

    const said = await doctor();

    for (const name of ['bedrock', 'vertex', 'foundry']) expect(said).toContain(`provider ${name}`);
    expect(said.match(/rejects the credentials/g)).toHaveLength(1);
    expect(said).toContain("Credential should be scoped to a valid region, not 'us-east-1'.");
    const made = cloud.calls.slice(begin);
    expect(made.map(({ target }) => target)).toContain('/model/anthropic.claude-test-v1%3A0/invoke');
    expect(made.filter(({ body }) => body.length > 2).length).toBe(0);

    cloud.state.google = 'google-token-changed-0123456789';
    cloud.state.entra = 'entra-token-changed-0123456789';
    cloud.state.aws.endsInMs = 3_600_000;
    const changed = await doctor();
    expect(changed).toContain('Access denied due to invalid subscription key');
    useEntra('entra-token-0123456789');

    // Hosts that repeat what they were sent.
    cloud.interrupt((response, request) => {
      const sent = ['authorization', 'x-amz-security-token'].map((name) => headerOf(request, name));
      response.writeHead(403, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ message: `not for ${sent.reverse().join(' ')}` }));
    });
    const repeated = await doctor();
    expect(repeated.match(/not for (?:Bearer )?\s*(?:Bearer )?\[secret\]/g)).toHaveLength(3);
    expect(repeated).not.toMatch(/(?:google|entra|session)-token/);
  });

  test.each([6, -6])('a clock that is %s minutes off is corrected by what AWS says', async (minutes) => {
    cloud.state.clockOffMs = minutes * minuteMs;

    const burst = await Promise.all(Array.from({ length: 5 }, () => ask('bedrock')));
    const first = burst[0] as Response;
    const second = await ask('bedrock');

    expect(burst.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect([first.status, first.headers.get('x-gateway-attempts')]).toEqual([200, '2']);
    expect([second.status, second.headers.get('x-gateway-attempts')]).toEqual([200, '1']);
    const time = headerOf(cloud.calls.at(-1) as never, 'x-amz-date');
    const sentMs = Date.parse(time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
    expect(Math.abs(sentMs - Date.now() - minutes * minuteMs)).toBeLessThan(5_000);
  });
});
