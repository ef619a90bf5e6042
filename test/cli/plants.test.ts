import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { command, type Environment, emptyDirectory, failure, printed, startCommand } from '../kit/command.ts';
import { startHost } from '../kit/host.ts';
import { describeDatabases, describeSqlite } from '../plants/databases.ts';
import { rosa, startTestStore, type TestStore } from '../plants/fixture.ts';

type User = ReturnType<typeof createUser>;

/** Somebody with a home directory of their own. */
function createUser(variables: Readonly<Record<string, string>> = {}) {
  const cwd = emptyDirectory();
  const env = { XDG_STATE_HOME: join(cwd, 'state'), TERM: 'xterm', ...variables };
  const start = (argv: string | readonly string[], { env: more, ...environment }: Environment = {}) => {
    const running = startCommand(argv, { ...{ cwd, stdin: '', ...environment }, env: { ...env, ...more } });
    return {
      ended: running.ended,
      /** What it left, after an interruption. */
      interrupt: () => {
        running.signal('SIGINT');
        return running.ended;
      },
      said: (text: string) => Promise.race([running.wrote('stdout', text), running.wrote('stderr', text)]),
    };
  };
  const run = (...words: Parameters<typeof start>) => start(...words).ended;
  return { env, start, run, plants: (line: string) => run(`plants ${line}`) };
}

const login = 'login -u rosa --password-stdin';
const password = { stdin: `${rosa.password}\n` };

// What the databases do differently is in test/plants.
describeSqlite('the plants commands', (databases) => {
  let store: TestStore;
  let user: User;
  let plants: User['plants'];
  beforeAll(async () => {
    store = await startTestStore(databases);
  });
  afterAll(() => store.drain());
  beforeEach(() => {
    user = createUser({ PLANTS_URL: store.url });
    plants = user.plants;
  });

  test('search prints tab-separated lines without a header in a pipe', async () => {
    expect(await plants('search --tags green,leafy --match all --limit 2')).toEqual(
      printed(
        '1\tBoston Fern\tavailable\tgreen,leafy,shade,indoor\thouseplant\n2\tMonstera Deliciosa\tavailable\tgreen,leafy,indoor,large\thouseplant\n',
      ),
    );
  });

  test('search in every other format holds the same plants', async () => {
    const line = 'search --tags edible --status available -o';
    const { json } = await plants(`${line} json`);

    expect(json).toHaveLength(2);
    expect((await plants(`${line} ndjson`)).lines).toEqual(json);
    expect(parse((await plants(`${line} yaml`)).stdout)).toEqual(json);
    expect((await plants(`${line} table`)).stdout).toMatch(/^ID {2}NAME +STATUS +TAGS +CATEGORY\n/);
  });

  test('search finds by name and category, and finding nothing is no failure', async () => {
    expect(await plants('search --tags nobody-has-it')).toEqual(printed());
    expect((await plants('search --name FERN -o json')).json).toMatchObject([{ name: 'Boston Fern' }]);
    expect((await plants('search --category Herb --status available -o json')).json).toMatchObject([
      { name: 'Lavender' },
      { name: 'Basil' },
    ]);
    expect(await user.run(['plants', 'search', '--name', ' '])).toMatchObject({ exit: 2, stdout: '' });
  });

  test('delete needs a login, prints the plant once more, and ends with 5 where there is none', async () => {
    const early = await plants('delete 1');
    await user.run(login, password);
    const { id } = (await plants('add Going --tags x -o json')).json;
    const deleted = await plants(`delete ${id}`);
    const again = await plants(`delete ${id} -o json`);

    expect(early).toMatchObject({ exit: 4, stdout: '' });
    expect(deleted).toEqual(printed(`${id}\tGoing\tavailable\tx\t\n`));
    expect(again).toMatchObject({ exit: 5, stdout: '', error: { reason: 'plant.unknown' } });
    expect((await plants('delete fern')).exit).toBe(2);
  });

  test('get prints one plant; one that is not there ends with 5', async () => {
    expect((await plants('get 1 -o json')).stdout).toBe(
      '{"id":1,"name":"Boston Fern","category":"houseplant","status":"available","tags":["green","leafy","shade","indoor"]}\n',
    );
    expect(await plants('get 987654')).toMatchObject({ exit: 5, stdout: '' });
    expect((await plants('get 987654 -o json')).error.reason).toBe('plant.unknown');
  });

  test('login, add, update and watch see it all; after logout, adding ends with 4', async () => {
    const loggedIn = await user.run(login, password);
    const watch = user.start('plants watch', { isTerminal: true });
    await watch.said('watching ');

    const add = await plants('add Commanded --tags b,a --category herb -o json');
    const { id } = add.json;
    const update = await plants(`update ${id} --status sold --no-category -o json`);
    await watch.said('available -> sold');
    const watched = await watch.interrupt();
    const whoami = await user.run('whoami');
    const logout = await user.run('logout');

    expect(loggedIn).toMatchObject({ exit: 0, stderr: '' });
    expect(add.json).toMatchObject({ name: 'Commanded', category: 'herb', tags: ['b', 'a'] });
    expect(update.json).toEqual({ id, name: 'Commanded', status: 'sold', tags: ['b', 'a'] });
    expect(watched.exit).toBe(130);
    expect(watched.stderr).not.toContain('SIGINT');
    expect(watched.stdout.split('\n').map((line) => line.split('  ').slice(1))).toEqual([
      ['plant.created', String(id), 'Commanded', 'available'],
      ['plant.updated', String(id), 'Commanded', 'sold'],
      ['plant.status.changed', String(id), 'available -> sold'],
      [],
    ]);
    expect(whoami.stdout).toBe(`rosa\trosa@example.org\t${store.url}\n`);
    expect(logout.exit).toBe(0);
    expect(await plants('add Late')).toEqual(failure(4, 'gateway plants login'));
  });

  test('watch ends quietly with 0 when its reader has left', async () => {
    const env = { PLANTS_TOKEN: store.token };
    const watch = user.start('plants watch', { env, isTerminal: true, isReaderGone: true });
    await watch.said('watching ');
    await user.run('plants add Unread', { env });

    expect(await watch.ended).toMatchObject({ exit: 0 });
  });

  test('watch connects again when the store comes back, and says so', async () => {
    const first = await startTestStore(databases);
    const env = { PLANTS_URL: first.url, PLANTS_TOKEN: first.token };
    const watch = user.start('plants watch', { env, isTerminal: true });
    await watch.said('watching ');
    await first.drain();
    await watch.said('connection lost');
    const second = await startTestStore(databases, {
      database: first.database,
      port: Number(new URL(first.url).port),
    });
    await watch.said('connected again');
    await user.run(['plants', 'add', 'After the break'], { env });
    await watch.said('After the break');
    const { exit } = await watch.interrupt();
    await second.drain();

    expect(exit).toBe(130);
  });

  test('watch without a session, or with one that ends, ends with 4', async () => {
    const token = (await store.send({ method: 'POST', path: '/user/auth/login', body: rosa })).json.token;
    const none = await plants('watch');
    const forged = await user.run('plants watch', { env: { PLANTS_TOKEN: 'A'.repeat(43) } });
    const watch = user.start('plants watch', { env: { PLANTS_TOKEN: token }, isTerminal: true });
    await watch.said('watching ');
    await store.send({ path: '/user/auth/logout', token });

    expect([none.exit, forged.exit, (await watch.ended).exit]).toEqual([4, 4, 4]);
  });

  test('login says where the session is kept, and not what it is', async () => {
    const { stdout, json } = await user.run(`${login} -o json`, password);

    expect(json).toMatchObject({ username: 'rosa', base_url: store.url });
    expect(stdout).not.toContain(JSON.parse(readFileSync(json.session_file, 'utf8')).token);
    expect(readdirSync(join(user.env.XDG_STATE_HOME, 'gateway'))).toHaveLength(1);
  });

  test('a wrong password ends with 4 and leaves no session', async () => {
    const answer = await user.run(login, { stdin: 'wrong password\n' });

    expect(answer).toMatchObject({ exit: 4, stdout: '' });
    expect((await user.run('whoami')).exit).toBe(4);
  });

  test.each([
    'plants get abc',
    'plants search --status lost',
    'plants search --tags a,,b',
    'plants search --limit 0',
    'plants update 1',
    'login -u rosa',
    'plants serve --database mysql://x',
    'plants user add not/a/name --password-stdin',
  ])('%s is wrong usage: 2, and nothing on stdout', async (line) => {
    expect(await user.run(line, { stdin: 'long enough a password\n' })).toEqual(failure(2, /^gateway: /));
  });
});

describeDatabases('plants serve and user add', (databases) => {
  let user: User;
  beforeEach(() => {
    user = createUser();
  });

  test('a user made on the machine can log in at the running store', async () => {
    const database = await databases.create();
    const serve = user.start(`plants serve -p 0 --database ${database}`, { isTerminal: true });
    await serve.said('/docs');
    const addUser = (words: string, stdin: string) =>
      user.run(`plants user add ${words} --password-stdin --database ${database}`, { stdin });
    const add = await addUser('anna --email anna@example.org', 'a long password\r\n');
    const again = await addUser('ANNA', 'another password');
    const { exit, stderr } = await serve.interrupt();

    expect(add).toEqual(printed('1\tanna\tanna@example.org\n'));
    expect(again).toEqual(failure(1, /^gateway: there is already a user ANNA\n$/));
    expect(exit).toBe(0);
    expect(stderr).not.toContain('demo');
  });
});

test("a user's own store has a demo user on its first start alone, whose password is shown once", async () => {
  const user = createUser();
  const first = user.start('plants serve -p 0', { isTerminal: true });
  await first.said('shown only now');
  const { stderr } = await first.interrupt();
  const url = /plants {2}(\S+)/.exec(stderr)?.[1] ?? '';
  const shown = /password (\S+)/.exec(stderr)?.[1] ?? '';

  const second = user.start(`plants serve -p ${new URL(url).port}`);
  await second.said('/docs');
  const env = { PLANTS_URL: url };
  const loggedIn = await user.run('login -u demo --password-stdin', { env, stdin: shown });
  const again = await second.interrupt();
  const file = join(user.env.XDG_STATE_HOME, 'gateway', 'plants.sqlite');

  expect(loggedIn.exit).toBe(0);
  expect(again.stderr).not.toContain('password');
  expect(JSON.parse(again.stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    event: 'plants.request',
    operation: 'loginUserWithBody',
    status: 200,
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('reset gives a user another password and ends the sessions; without any user it makes demo', async () => {
  const user = createUser();
  const serve = user.start('plants serve -p 0'); // no terminal: no demo user
  const env = { PLANTS_URL: /plants {2}(\S+)/.exec(await serve.said('/docs'))?.[1] ?? '' };

  const first = await user.run('plants user reset');
  const login = await user.run('login -u demo --password-stdin', { env, stdin: first.stdout });
  const second = await user.run('plants user reset demo -o json');
  const old = await user.run('login -u demo --password-stdin', { env, stdin: first.stdout });
  const session = await user.run('whoami', { env });
  const own = await user.run('plants user reset --password-stdin', { stdin: 'a password of mine\n' });
  const third = await user.run('login -u demo --password-stdin', { env, stdin: 'a password of mine\n' });
  const stranger = await user.run('plants user reset rosa');
  await serve.interrupt();

  expect([first.stdout, login.exit, third.exit]).toEqual([expect.stringMatching(/^[\w-]{16}\n$/), 0, 0]);
  expect(JSON.parse(second.stdout)).toEqual({ id: 1, username: 'demo', password: expect.any(String) });
  expect([old.exit, session.exit]).toEqual([4, 4]);
  expect(own).toEqual(printed(''));
  expect(stranger).toEqual(failure(5, 'there is no user rosa'));
});

test('a store that is not there ends with 8 and says what to do', async () => {
  const env = { PLANTS_URL: 'http://127.0.0.1:9/v3', PLANTS_TOKEN: 'x' };

  expect(await command('plants search', { env })).toEqual(failure(8, 'gateway serve'));
  expect((await command('plants watch', { env })).exit).toBe(8);
});

// Which address goes before which: test/client/plants-url.test.ts.
test.each([
  ['goes where the configuration of the project says', 'base_url', 8, 'http://127.0.0.1:9/v3'],
  ['tells what is wrong with it', 'base_ulr', 2, 'base_url'],
])('the plants commands: one %s', async (_what, setting, exit, words) => {
  const files = { 'gateway.yaml': `plants: { ${setting}: "http://127.0.0.1:9/v3" }\n` };

  expect(await command('plants search', { files })).toEqual(failure(exit, words));
});

test.each([
  ['a page', 200, 'text/html', '<html>'],
  ['JSON of another kind', 200, 'application/json', '{"ok":true}'],
  ['a way elsewhere', 302, 'text/plain', ''],
])('a server that answers with %s is no plant store: 8', async (_what, status, type, body) => {
  const headers = { 'content-type': type, location: 'http://127.0.0.1:9/' };
  const { url } = await startHost((response) => response.writeHead(status, headers).end(body));

  expect(await command('plants search', { env: { PLANTS_URL: url } })).toMatchObject({ exit: 8, stdout: '' });
});

test('--timeout ends the wait for a store that does not answer', async () => {
  const { url: PLANTS_URL } = await startHost(() => undefined);

  expect(await command('plants search --timeout 0.1', { env: { PLANTS_URL } })).toEqual(
    failure(8, 'did not answer in time'),
  );
});
