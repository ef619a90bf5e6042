import { z } from 'zod';
import { actions } from './rule.ts';

const ruleSchema = z.strictObject({
  id: z.string(),
  action: z.enum(actions),
});

/** The shape of one policy in the configuration. */
export const policySchema = z.strictObject({
  apply: z.enum(['all', 'named']).default('named'),
  mode: z.enum(['enforce', 'monitor']).default('enforce'),
  default: z.enum(['allow', 'deny']).default('allow'),
  rules: z.array(ruleSchema).default([]),
});

export type PolicyOptions = z.infer<typeof policySchema>;
