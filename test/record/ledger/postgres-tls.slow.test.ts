import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  answering,
  configure,
  keys,
  lines,
  serveIn,
  statuses,
  stop,
  withBudget,
} from '../../cli/serve/workers/serving.ts';
import { makeAuthority } from '../../kit/certificate.ts';
import { startProgram } from '../../kit/child.ts';
import { emptyDirectory, homeWith } from '../../kit/command.ts';
import { hasStunnel, startStunnel } from '../../kit/stunnel.ts';
import { type Postgres, postgresPrograms, startPostgres } from '../../plants/postgres.ts';

// PostgreSQL as clouds sell it: with a certificate of an authority that is nobody else's. stunnel ends the TLS.

const authority = makeAuthority('private');
const ca = join(homeWith({ 'ca.pem': authority.cert }), 'ca.pem');
const trusting = { NODE_EXTRA_CA_CERTS: ca };

describe.skipIf(postgresPrograms === undefined || !hasStunnel)('PostgreSQL with a private authority', () => {
  let postgres: Postgres;
  let port = 0;
  beforeAll(async () => {
    postgres = await startPostgres();
    const identity = authority.issue(['localhost']);
    port = await startStunnel({ before: postgres.socket, identity, protocol: 'pgsql' });
  }, 60_000);
  afterAll(() => postgres?.stop());

  async function homeAt(host: string, query: string): Promise<string> {
    const { url } = await answering();
    const { pathname } = new URL(await postgres.createDatabase());
    const home = emptyDirectory();
    const database = `postgres://plants@${host}:${port}${pathname}${query}`;
    configure(home, withBudget(url, { more: `records: { ledger_database: "${database}" }` }));
    return home;
  }

  test.each([
    ['?sslmode=require', trusting],
    [`?sslrootcert=${ca}&sslmode=verify-full`, {}],
  ])('is written where it is trusted: %s', async (query, env: Record<string, string>) => {
    const home = await homeAt('localhost', query);
    const gateway = await serveIn(home, { env: { ...keys, ...env } });

    const seen = await statuses({ ...gateway, key: keys.SHOP_KEY }, 3);
    await stop(gateway);
    const reading = startProgram(['usage', '--by', 'project', '-o', 'json'], home, { ...keys, ...env });
    const { stdout, stderr } = await reading.ended;

    expect(seen).toEqual([200, 200, 200]);
    expect(JSON.parse(stdout)).toMatchObject([{ project: 'shop', requests: 3 }]);
    expect(stderr).toBe('');
    expect(lines(gateway.child).filter((line) => !line.startsWith('{'))).toEqual([]);
  });

  test.each([
    ['localhost', {}, 'its certificate is signed by an unknown authority\tset NODE_EXTRA_CA_CERTS'],
    ['127.0.0.1', trusting, 'its certificate is for another host\tcheck the host of records.ledger_database'],
  ])('is not trusted as %s: doctor says what to do', async (host, env: Record<string, string>, said) => {
    const home = await homeAt(host, '?sslmode=require');

    const { stdout, stderr } = await startProgram(['doctor'], home, { ...keys, ...env }).ended;

    expect(stdout).toContain(`: ${said}`);
    expect(stderr).not.toContain('Warning');
  });
});
