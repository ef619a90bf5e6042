import { expect, test } from 'vitest';
import { createPasswordChecker } from '../../../src/plants/accounts/password.ts';

test('two passwords are checked at a time and sixteen wait; more are refused with a Retry-After', async () => {
  const checker = createPasswordChecker(2 ** 12);
  const hash = await checker.hash('correct horse battery');
  const checks = await Promise.allSettled(
    Array.from({ length: 30 }, () => checker.matches('correct horse battery', hash)),
  );

  const refused = checks.flatMap((check) => (check.status === 'rejected' ? [check.reason] : []));
  expect(checks.filter((check) => check.status === 'fulfilled' && check.value)).toHaveLength(18);
  expect(refused).toHaveLength(12);
  for (const error of refused) expect(error).toMatchObject({ code: 'gateway.overloaded', retryAfterS: 5 });
  expect(await checker.matches('wrong', hash)).toBe(false);
});
