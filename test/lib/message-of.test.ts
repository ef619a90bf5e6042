import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { messageOfError } from '../../src/lib/message-of.ts';

test('an error says its message', () => {
  expect(messageOfError(new Error('no'))).toBe('no');
  expect(messageOfError('thrown')).toBe('thrown');
});

test('of a name whose addresses all fail, each failure is said', async () => {
  const lookup = (_name: string, _options: object, found: (error: null, addresses: object[]) => void) =>
    found(
      null,
      ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 })),
    );
  const options = { host: 'two.test', port: 1, lookup } as never; // Node's types have one address only

  const error = await new Promise((resolve) => connect(options).on('error', resolve));

  expect(messageOfError(error)).toBe('connect ECONNREFUSED 127.0.0.1:1, connect ECONNREFUSED 127.0.0.2:1');
});

test('an error that says nothing is named by its code, or its class', () => {
  expect(messageOfError(Object.assign(new Error(''), { code: 'EFAIL' }))).toBe('EFAIL');
  expect(messageOfError(new AggregateError([]))).toBe('AggregateError');
});
