import { ai } from './ai.ts';
import { chains } from './chains.ts';
import { cloud } from './cloud.ts';
import { code } from './code.ts';
import { identity } from './identity.ts';
import { messaging } from './messaging.ts';
import { monitoring } from './monitoring.ts';
import { payments } from './payments.ts';
import { selfHosted } from './self-hosted.ts';
import type { Service } from './table.ts';
import { work } from './work.ts';

/** Every service whose keys have a recognizable shape. */
export const services: readonly Service[] = [
  ...ai,
  ...chains,
  ...cloud,
  ...code,
  ...identity,
  ...messaging,
  ...monitoring,
  ...payments,
  ...selfHosted,
  ...work,
];
