import { afterAll } from 'vitest';
import { endPrograms } from './child.ts';
import { endStarted } from './started.ts';

afterAll(async () => {
  await endStarted();
  endPrograms();
});
