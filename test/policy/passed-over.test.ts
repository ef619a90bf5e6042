import { expect, test } from 'vitest';
import { hasDocumentationExample } from '../../src/policy/detectors/secrets/examples.ts';

// biome-ignore format: a list
test.each([
  'AKIAIOSFODNN7EXAMPLE', 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'password: hunter2',
  'the password is password=changeme', 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '"api_key": "test123"',
])('%s is one of documentation', (text) => {
  expect(hasDocumentationExample(text)).toBe(true);
});

// biome-ignore format: a list
test.each([
  'a word about passwords', 'password: string', 'ghp_0123456789abcdefABCDEF0123456789abcd', 'an example of a long sentence',
  'token: q8Zr2LxV7nT4wKc9YbHd1mPs', 'xxxxxxxxxxxxxxxxxxxxxxxx',
])('%s is none', (text) => {
  expect(hasDocumentationExample(text)).toBe(false);
});
