import { afterAll } from 'vitest';
import { endPrograms } from './child.ts';

afterAll(endPrograms);
