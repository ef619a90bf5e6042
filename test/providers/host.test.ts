import { expect, test } from 'vitest';
import { reportsStreamUsage } from '../../src/providers/host.ts';

test.each(['api.openai.com', 'me.openai.azure.com', 'localhost', '127.0.0.1', '[::1]', 'openrouter.ai'])(
  '%s is asked for the usage of a stream',
  (hostname) => {
    expect(reportsStreamUsage(hostname)).toBe(true);
  },
);

test.each(['models.example.com', 'api.openai.com.example.com', '127.0.0.1.example.com', 'xopenrouter.ai'])(
  '%s may not know the field',
  (hostname) => {
    expect(reportsStreamUsage(hostname)).toBe(false);
  },
);
