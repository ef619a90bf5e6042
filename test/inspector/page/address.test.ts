import { expect, test } from 'vitest';
import { parseView, toHash } from '../../../src/inspector/page/address.ts';

test.each([
  '#/',
  '#/now',
  '#/try',
  '#/try/req_1',
  '#/exchange/req_1',
  '#/exchange/req_1/headers',
  '#/sessions',
  '#/session/shop-web/live%2Fone',
])('%s is the address of what it shows', (hash) => {
  expect(toHash(parseView(hash))).toBe(hash);
});

test.each(['', '#', '#/exchange', '#/exchange//headers', '#token=abc', '#/<script>'])(
  '%j shows the traffic',
  (hash) => {
    expect(parseView(hash)).toEqual({ name: 'traffic' });
  },
);

test('an unknown tab is the overview', () => {
  expect(parseView('#/exchange/req_1/nothing')).toEqual({ name: 'exchange', id: 'req_1', tab: 'overview' });
});
