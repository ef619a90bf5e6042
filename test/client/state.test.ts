import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { gatewayAddress } from '../../src/client/address.ts';
import { readState, removeState, stateDirectory, writeState } from '../../src/client/state.ts';
import { emptyDirectory } from '../kit/own-configuration.ts';

let env: Readonly<Record<string, string>>;
beforeEach(() => {
  env = { HOME: emptyDirectory() };
});

describe('state files', () => {
  test('are where the XDG specification says', () => {
    expect(stateDirectory({ HOME: '/home/u', XDG_STATE_HOME: '/s' })).toBe('/s/gateway');
    for (const XDG_STATE_HOME of ['relative', '']) {
      expect(stateDirectory({ HOME: '/home/u', XDG_STATE_HOME })).toBe('/home/u/.local/state/gateway');
    }
    expect(stateDirectory({ HOME: '/home/u' })).toBe('/home/u/.local/state/gateway');
    expect(stateDirectory({ HOME: '' })).toBe(join(homedir(), '.local/state/gateway'));
  });

  test('are for their user alone, also where they were not before', () => {
    mkdirSync(stateDirectory(env), { recursive: true, mode: 0o755 });
    const path = writeState(env, 'a.json', { key: 'secret' });

    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(stateDirectory(env)).mode & 0o777).toBe(0o700);
  });

  test('are read as they were written, replaced and removed', () => {
    writeState(env, 'a.json', { a: 1 });
    writeState(env, 'a.json', { a: 2 });
    expect(readState(env, 'a.json')).toEqual({ a: 2 });
    expect(readdirSync(stateDirectory(env))).toEqual(['a.json']);

    removeState(env, 'a.json');
    removeState(env, 'a.json');

    expect(readState(env, 'a.json')).toBeUndefined();
  });

  test('that are damaged count as missing', () => {
    const path = writeState(env, 'a.json', { a: 1 });
    writeFileSync(path, '{"a":');

    expect(readState(env, 'a.json')).toBeUndefined();
  });
});

describe('where the gateway is', () => {
  const running = {
    url: 'http://127.0.0.1:4100',
    pid: 1,
    proof: { challenge: 'c', answer: 'a' },
    key: 'gw_local',
    default_model: 'sandbox-mini',
  };

  function codeOf(environment: Readonly<Record<string, string>>): unknown {
    try {
      return gatewayAddress(environment);
    } catch (error) {
      return (error as { code: string }).code;
    }
  }

  test('what a running gateway left is used, an empty variable being as good as none', () => {
    writeState(env, 'running.json', running);

    expect(gatewayAddress({ ...env, GATEWAY_KEY: '', GATEWAY_URL: '' })).toEqual({
      url: running.url,
      key: 'gw_local',
      proof: running.proof,
      defaultModel: 'sandbox-mini',
      agentModels: {},
    });
    expect(gatewayAddress({ ...env, GATEWAY_URL: 'http://127.0.0.1:4100/' }).key).toBe('gw_local');
  });

  test('no key goes to the usual address if neither a file nor the user names it', () => {
    expect(codeOf({ ...env, GATEWAY_KEY: 'mine' })).toBe('gateway.unreachable');
    expect(
      gatewayAddress({ ...env, GATEWAY_KEY: 'mine', GATEWAY_URL: 'http://127.0.0.1:4100' }),
    ).toMatchObject({
      key: 'mine',
      url: 'http://127.0.0.1:4100',
    });
  });

  test('its key goes to no other address', () => {
    writeState(env, 'running.json', running);

    for (const url of [
      'http://127.0.0.1:4101',
      'https://127.0.0.1:4100',
      'http://evil.example',
      'http://127.0.0.1:4100@evil.example',
    ]) {
      expect(codeOf({ ...env, GATEWAY_URL: url })).toBe('key.missing');
    }
  });

  test('the environment goes before it', () => {
    writeState(env, 'running.json', running);

    expect(gatewayAddress({ ...env, GATEWAY_KEY: 'mine' })).toMatchObject({ url: running.url, key: 'mine' });
    expect(gatewayAddress({ ...env, GATEWAY_KEY: 'mine', GATEWAY_URL: 'https://g.example/x' })).toEqual({
      url: 'https://g.example/x',
      key: 'mine',
      defaultModel: undefined,
      agentModels: {},
    });
  });

  test.each(['ftp://x', 'localhost:4100', '127.0.0.1', 'http://', 'http:///x', 'http://[::1'])(
    '%j is no address',
    (url) => {
      expect(codeOf({ ...env, GATEWAY_URL: url, GATEWAY_KEY: 'k' })).toBe('usage.invalid');
    },
  );

  test('none is running and none was named', () => {
    expect(codeOf(env)).toBe('gateway.unreachable');
    writeState(env, 'running.json', { url: 7 });
    expect(codeOf(env)).toBe('gateway.unreachable');
  });
});
