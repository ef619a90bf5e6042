import * as z from 'zod';
import { type MatcherName, matchers } from '../matchers/registry.ts';
import { textSchema } from '../matchers/text.ts';
import { actions } from '../rule.ts';

const id = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected 1 to 64 characters of A-Z a-z 0-9 . _ -');
const reason = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'expected a reason such as content.codename');
const mode = z.enum(['enforce', 'monitor']);
const allowOrBlock = z.enum(['allow', 'block']);

// Object.fromEntries loses which matcher has which schema; the type restores it, from the same registry.
const conditionShapes = Object.fromEntries(
  Object.entries(matchers).map(([name, matcher]) => [name, matcher.schema.optional()]),
) as unknown as { [Name in MatcherName]: z.ZodOptional<(typeof matchers)[Name]['schema']> };

/** The conditions of `when` and `unless`: all that are given must hold. */
const conditionsSchema = z
  .strictObject(conditionShapes)
  .refine((conditions) => Object.keys(conditions).length > 0, 'give at least one condition');

const ruleSchema = z
  .strictObject({
    id,
    action: z.enum(actions),
    mode: mode.optional(),
    when: conditionsSchema.optional(),
    unless: conditionsSchema.optional(),
    except: z.strictObject({ text: textSchema }).optional(),
    reason: reason.optional(),
    message: z.string().min(1).max(1000).optional(),
    apply_to: z
      .array(z.enum(['request', 'response']))
      .min(1)
      .default(['request']),
    tests: z
      .strictObject({ block: z.array(z.string()).default([]), allow: z.array(z.string()).default([]) })
      .optional(),
  })
  .refine(
    (rule) => rule.when !== undefined || rule.unless !== undefined,
    'a rule needs when, unless or both',
  );

/** The shape of one policy in the configuration. */
export const policySchema = z.strictObject({
  apply: z.enum(['all', 'named']).default('named'),
  mode: mode.default('enforce'),
  default: z.enum(['allow', 'deny']).default('allow'),
  opaque_content: allowOrBlock.default('allow'),
  unseen_references: allowOrBlock.default('allow'),
  rules: z.array(ruleSchema).default([]),
});

export type ConditionsOptions = z.infer<typeof conditionsSchema>;
export type RuleOptions = z.infer<typeof ruleSchema>;
export type PolicyOptions = z.infer<typeof policySchema>;
