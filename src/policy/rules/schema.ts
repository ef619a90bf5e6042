import * as z from 'zod';
import { about } from '../matchers/about.ts';
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

const hasAny = (conditions: object) => Object.keys(conditions).length > 0;
const giveOne = 'give at least one condition';

/** The conditions of `when` and `unless`: all that are given must hold. */
const conditionsSchema = z.strictObject(conditionShapes).refine(hasAny, giveOne);

const { provider: _, ...routeShapes } = conditionShapes;

/** Those of an entry of the model list, which says itself which provider it is. */
export const routeConditionsSchema = z.strictObject(routeShapes).refine(hasAny, giveOne);

/** The conditions of an entry of the model list. */
export interface RouteOptions {
  /** It serves a request only if all of these hold. */
  readonly when?: ConditionsOptions | undefined;
  /** It doesn't if all of these hold. */
  readonly unless?: ConditionsOptions | undefined;
}

const ruleSchema = z
  .strictObject({
    id: id.register(...about('Its name in answers and records; unique in the whole file.')),
    action: z
      .enum(actions)
      .register(...about('What happens if it applies; the strictest of all rules wins.')),
    mode: mode.optional().register(...about("Enforce, or only record; default: the policy's.")),
    when: conditionsSchema.optional().register(...about('It applies if all of these conditions hold.')),
    unless: conditionsSchema
      .optional()
      .register(...about('It does not apply if all of these conditions hold.')),
    except: z
      .strictObject({ text: textSchema })
      .optional()
      .register(...about('Matches of `text` that lie within one of these do not count.')),
    reason: reason
      .optional()
      .register(...about('Reason of a refusal, for programs; default: policy.blocked.')),
    message: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .register(...about('What a refused client reads.')),
    placeholder: z
      .string()
      .regex(
        /^(?:shape|[A-Z][A-Z0-9_]{0,29}[A-Z0-9])$/,
        'expected a word such as CUSTOMER (A-Z, 0-9 and _), or shape',
      )
      .optional()
      .register(
        ...about(
          "What placeholders of `mask` begin with; default: the detector's name, or the reason's last word. `shape`: addresses, cards, IBANs and telephone numbers become others like them.",
        ),
      ),
    apply_to: z
      .array(z.enum(['request', 'response']))
      .min(1)
      .default(['request'])
      .register(...about('Whether it checks requests, answers or both.')),
    tests: z
      .strictObject({
        block: z
          .array(z.string())
          .default([])
          .register(...about('Texts that its text conditions must match.')),
        allow: z
          .array(z.string())
          .default([])
          .register(...about('Texts that they must not match.')),
      })
      .optional()
      .register(...about('Examples, checked whenever the configuration is loaded.')),
  })
  .refine(
    (rule) => rule.when !== undefined || rule.unless !== undefined,
    'a rule needs when, unless or both',
  );

/** The shape of one policy in the configuration. */
export const policySchema = z.strictObject({
  apply: z
    .enum(['all', 'named'])
    .default('named')
    .register(...about('To every request, or only to projects and keys that name it.')),
  mode: mode.default('enforce').register(...about('Refuse, or only record what would be refused.')),
  default: z
    .enum(['allow', 'deny'])
    .default('allow')
    .register(...about('What happens to a request that none of its rules decides.')),
  opaque_content: allowOrBlock
    .default('allow')
    .register(...about('Content that no rule can read: images, sound, PDFs, archives.')),
  unseen_references: allowOrBlock
    .default('allow')
    .register(
      ...about('Content that is elsewhere: file ids, URLs, stored conversations, encrypted reasoning.'),
    ),
  rules: z
    .array(ruleSchema)
    .default([])
    .register(...about('All are evaluated; their order matters for the reason only.')),
});

export type ConditionsOptions = z.infer<typeof conditionsSchema>;
export type RuleOptions = z.infer<typeof ruleSchema>;
export type PolicyOptions = z.infer<typeof policySchema>;
