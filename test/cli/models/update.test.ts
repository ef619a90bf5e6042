import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import type { ExchangeRecord } from '../../../src/record/record.ts';
import { startServices } from '../../../src/server/services.ts';
import { messagesAnswer } from '../../kit/answers.ts';
import { command, directoryWith } from '../../kit/command.ts';
import { projects, secrets } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';
import { postRaw } from '../../kit/raw.ts';
import { stopAtEnd } from '../../kit/started.ts';

const table = (models: object) => JSON.stringify({ models });
const tables = (home: string) => {
  const directory = join(home, '.local/state/gateway');
  const names = readdirSync(directory).filter((name) => name.startsWith('models-'));
  return names.map((name) => ({ name, path: join(directory, name) }));
};
const update = (home: string, line: string) => command(`models update ${line}`.trim(), { cwd: home });

/** A home with a table beside the configuration. */
function homeWithTable(models: object, yaml = ''): string {
  const home = directoryWith(yaml);
  writeFileSync(join(home, 'prices.json'), table(models));
  return home;
}

const newModels = { 'claude-new-9': { input: 2, output: 8 }, 'gpt-4o': { input: 2, output: 10 } };

describe('gateway models update', () => {
  test('shows what changes, and keeps the table under its date and hash, alone', async () => {
    const home = homeWithTable(newModels);

    const first = await update(home, 'prices.json');
    writeFileSync(join(home, 'prices.json'), table({ 'claude-new-9': { input: 3, output: 8 }, x: {} }));
    const second = await update(home, 'prices.json');

    expect(first.exit).toBe(0);
    expect(first.stdout).toMatch(/^gpt-4o\t2\.5 \/ 10, cache 1\.25 \/ 2\.5\t2 \/ 10, cache 2 \/ 2$/m);
    expect(first.stdout).toMatch(/^claude-new-9\t-\t2 \/ 8, cache 2 \/ 2$/m);
    expect(first.stderr).toMatch(/^1 new, 1 changed, 0 removed;/);
    expect(second.stdout).toMatch(/^claude-new-9\t2 \/ 8, cache 2 \/ 2\t3 \/ 8, cache 3 \/ 3$/m);
    expect(second.stderr).toContain('left out: x: input is missing, or no number');
    const kept = tables(home);
    expect(kept).toEqual([
      {
        name: expect.stringMatching(/^models-\d{4}-\d\d-\d\d-[0-9a-f]{16}\.json$/),
        path: expect.any(String),
      },
    ]);
    expect(JSON.parse(readFileSync(kept[0]?.path ?? '', 'utf8'))).toEqual({
      source: 'prices.json',
      retrieved: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      models: { 'claude-new-9': { input: 3, output: 8 } },
    });
  });

  test('changes nothing with --dry-run, and goes back with --remove', async () => {
    const home = homeWithTable(newModels);

    const dry = await update(home, 'prices.json --dry-run');
    const before = await command('models update --remove', { cwd: home });
    await update(home, 'prices.json');
    const removed = await update(home, '--remove');

    expect(dry.stderr).toContain('nothing was changed');
    expect(before.stderr).toMatch(/^0 new, 0 changed, 0 removed;/);
    expect(removed.stdout).toMatch(/^claude-new-9\t2 \/ 8, cache 2 \/ 2\t-$/m);
    expect(tables(home)).toEqual([]);
  });

  test('prints all of it as JSON', async () => {
    const { json } = await update(homeWithTable(newModels), 'prices.json -o json');

    expect(json).toMatchObject({
      source: 'prices.json',
      added: [{ name: 'claude-new-9', now: '2 / 8, cache 2 / 2' }],
      changed: [{ name: 'gpt-4o' }],
      removed: [],
      rejected: [],
    });
  });

  test.each([
    ['', 'nothing is fetched by itself'],
    ['prices.json --remove', 'nothing is fetched by itself'],
    ['none.json', 'none.json'],
    ['http://prices.example/models.json', 'expected a file, or an https:// URL'],
    ['https://user:secret@prices.example/models.json', 'without a password'],
    ['ftp://prices.example/models.json', 'expected a file, or an https:// URL'],
    ['gateway.yaml', 'is not a table of models'],
  ])('refuses %j', async (line, message) => {
    const home = homeWithTable(newModels, 'server: { port: 0 }');

    const { exit, stderr } = await update(home, line);

    expect(exit).not.toBe(0);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('secret');
  });

  test('fetches a URL of this machine, and follows none, and takes no more than 16 MiB', async () => {
    const host = await startHost((response, { target }) => {
      if (target === '/moved') return response.writeHead(302, { location: '/models.json' }).end();
      if (target === '/models.json') return response.end(table(newModels));
      response.write('{"models":{"x":"');
      const more = () => {
        if (response.destroyed) return;
        response.write('x'.repeat(1_000_000), more);
      };
      more();
      return undefined;
    });
    const home = directoryWith('');

    const fetched = await update(home, `${host.url}/models.json`);
    const moved = await update(home, `${host.url}/moved`);
    const endless = await update(home, `${host.url}/endless`);

    expect(fetched).toMatchObject({ exit: 0 });
    expect(moved.stderr).toContain('answers 302: it leads elsewhere');
    expect(endless.stderr).toContain('larger than 16 MiB');
    expect(tables(home)).toHaveLength(1);
  });
});

describe('a new model under a budget', () => {
  const yamlFor = (url: string, more = '') => `server: { port: 0 }
providers:
  claude: { dialect: anthropic, base_url: "${url}", api_key: "\${PROVIDER_KEY}" }
models: [{ match: "*", provider: claude${more} }]
${projects.replace('shop:\n', 'shop:\n    limits: { usd_per_day: 5 }\n')}`;

  /** Asks a gateway that starts now; the status, the record and what was said. */
  async function ask(home: string, yaml: string) {
    writeFileSync(join(home, 'gateway.yaml'), yaml);
    const env = { ...secrets, HOME: home };
    const loaded = await loadConfig({ file: join(home, 'gateway.yaml'), cwd: home, env, nowMs: Date.now() });
    const records: ExchangeRecord[] = [];
    const services = await startServices({
      ...{ host: '127.0.0.1', port: 0, config: loaded.config },
      record: (record) => records.push(record),
    });
    services.announce();
    stopAtEnd(() => services.stop());
    const body = { model: 'claude-new-9', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
    const gateway = { port: Number(new URL(services.url).port), key: secrets.PROJECT_KEY };
    const answer = await postRaw(gateway, '/v1/messages', body, [
      'content-type: application/json',
      `x-api-key: ${secrets.PROJECT_KEY}`,
    ]);
    await services.stop();
    const warnings = loaded.warnings.map(({ message }) => message);
    return { status: answer.status, text: answer.body.toString(), record: records[0], warnings };
  }

  // A host of this machine would be free.
  test('is refused with the command that helps, then priced by the table, and by the configuration before it', async () => {
    const host = await startHost((response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(messagesAnswer),
    );
    const url = host.url.replace('127.0.0.1', 'localhost.localdomain.test');
    const home = homeWithTable(newModels);

    const refused = await ask(home, yamlFor(url));
    await update(home, 'prices.json');
    const priced = await ask(home, yamlFor(host.url));
    const configured = await ask(home, yamlFor(host.url, ', pricing: { input: 100, output: 200 }'));

    expect(refused).toMatchObject({ status: 429 });
    expect(refused.text).toContain('gateway models update');
    expect(priced).toMatchObject({ status: 200, record: { cost_usd: (3 * 2 + 4 * 8) / 1e6 } });
    expect(configured).toMatchObject({ status: 200, record: { cost_usd: (3 * 100 + 4 * 200) / 1e6 } });
  });

  test('has no price by a table that was changed, and a warning says so', async () => {
    const home = homeWithTable(newModels);
    await update(home, 'prices.json');
    const [kept] = tables(home);
    writeFileSync(
      kept?.path ?? '',
      readFileSync(kept?.path ?? '', 'utf8').replace('"input": 2', '"input": 0.1'),
    );

    const { status, warnings } = await ask(home, yamlFor('https://prices.example.test'));

    expect(status).toBe(429);
    expect(warnings).toContainEqual(expect.stringMatching(/^the prices in .* are not used: it was changed$/));
  });

  test('is named by doctor, with the age of the prices', async () => {
    const yaml = `${yamlFor('https://127.0.0.1:9')}`.replace('match: "*"', 'match: "claude-new-9"');
    const far = yaml.replace('https://127.0.0.1:9', 'https://prices.example.test');
    const home = homeWithTable(newModels, far);
    const doctor = async () => {
      const { stdout } = await command('doctor --timeout 1', { cwd: home, env: secrets });
      return stdout.split('\n').filter((line) => line.includes('\tprices\t'));
    };

    const before = await doctor();
    await update(home, 'prices.json');
    const after = await doctor();

    expect(before).toEqual([
      expect.stringMatching(/^ok\tprices\tthe prices that are built in are of 20\d\d-\d\d-\d\d, /),
      expect.stringMatching(
        /^warning\tprices\tno price is known for claude-new-9, which budgets refuse\t.*gateway models update/,
      ),
    ]);
    expect(after).toEqual([
      expect.stringMatching(/^ok\tprices\t2 prices from prices\.json were taken over on .*, today/),
    ]);
  });
});
