import { expect, test } from 'vitest';
import { postgresRemedy } from '../../src/database/failures.ts';

test.each([
  ['unsupported startup parameter: statement_timeout', /ignore_startup_parameters/],
  ['self-signed certificate in certificate chain', /NODE_EXTRA_CA_CERTS, or sslrootcert/],
  ['unable to verify the first certificate', /NODE_EXTRA_CA_CERTS, or sslrootcert/],
  ['password authentication failed for user "u"', undefined],
])('%s', (message, remedy) => {
  const found = postgresRemedy(new Error(message));

  if (remedy === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(remedy);
});
