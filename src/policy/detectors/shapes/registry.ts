import type { Service } from './table.ts';
import { ai } from './vendors/ai.ts';
import { chains } from './vendors/chains.ts';
import { cloud } from './vendors/cloud.ts';
import { code } from './vendors/code.ts';
import { identity } from './vendors/identity.ts';
import { messaging } from './vendors/messaging.ts';
import { monitoring } from './vendors/monitoring.ts';
import { payments } from './vendors/payments.ts';
import { selfHosted } from './vendors/self-hosted.ts';
import { work } from './vendors/work.ts';

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
