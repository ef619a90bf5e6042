import { expect, test } from 'vitest';
import { postgresRemedy } from '../../src/database/failures.ts';

test.each<[string, RegExp | undefined, string?]>([
  ['unsupported startup parameter: statement_timeout', /ignore_startup_parameters/],
  ['sorry, too many clients already', /more connections/, '53300'],
  ['remaining connection slots are reserved for non-replication superuser connections', /more conn/, '53300'],
  ['the database system is starting up', /wait until it is ready/, '57P03'],
  ['self-signed certificate in certificate chain', /NODE_EXTRA_CA_CERTS, or sslrootcert/],
  ['unable to verify the first certificate', /NODE_EXTRA_CA_CERTS, or sslrootcert/],
  ['password authentication failed for user "u"', undefined],
])('%s', (message, remedy, code) => {
  const found = postgresRemedy(Object.assign(new Error(message), { code }));

  if (remedy === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(remedy);
});
