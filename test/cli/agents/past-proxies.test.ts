import { expect, test } from 'vitest';
import { pastProxies } from '../../../src/cli/agents/clients.ts';

const local = 'http://127.0.0.1:4100';
const company = { HTTPS_PROXY: 'http://proxy.example:3128' };

test.each(
  // biome-ignore format: a case a line
  [
    ['no proxy: an agent may have one in its settings', local, {}, '127.0.0.1,localhost,::1'],
    ['a proxy', local, company, '127.0.0.1,localhost,::1'],
    ['one in small letters', local, { http_proxy: 'http://p' }, '127.0.0.1,localhost,::1'],
    ['exceptions that are there stay', local, { ...company, NO_PROXY: 'intranet, .example' }, 'intranet,.example,127.0.0.1,localhost,::1'],
    ['those in small letters count', local, { ...company, NO_PROXY: 'a', no_proxy: 'b' }, 'b,127.0.0.1,localhost,::1'],
    ['every host is one', local, { ...company, NO_PROXY: '*' }, undefined],
    ['another loopback address', 'http://127.0.0.5:1', company, '127.0.0.1,localhost,::1,127.0.0.5'],
    ['a gateway elsewhere', 'https://gateway.example', company, undefined],
  ],
)('%s', (_name, url, env, list) => {
  expect(pastProxies(url, env)).toEqual(list === undefined ? {} : { NO_PROXY: list, no_proxy: list });
});
