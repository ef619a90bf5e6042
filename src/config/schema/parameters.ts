import * as z from 'zod';
import { about } from '../../policy/matchers/about.ts';
import { reaching } from './reach.ts';
import { headerName } from './scalars.ts';

/**
 * Members of a body that an entry of the model list may set or remove, by their paths; `*` stands for any name. None of
 * them is a text, a tool, a model, a cap on output, or says what a host keeps: rules and limits depend on those.
 */
// biome-ignore format: a group a line
const adjustable: readonly string[] = [
  'temperature', 'top_p', 'top_k', 'top_a', 'min_p', 'typical_p', 'seed',
  'presence_penalty', 'frequency_penalty', 'repetition_penalty', 'repeat_penalty',
  'reasoning_effort', 'reasoning.effort', 'reasoning.enabled', 'reasoning.exclude', 'reasoning.summary',
  'thinking.type', 'thinking.budget_tokens', 'thinking.display', 'output_config.effort', 'verbosity', 'text.verbosity',
  'enable_thinking', 'thinking_budget', 'chat_template_kwargs.*',
  'provider.order', 'provider.only', 'provider.ignore', 'provider.sort', 'provider.quantizations',
  'provider.allow_fallbacks', 'provider.require_parameters', 'provider.data_collection', 'provider.zdr',
  'keep_alive', 'cache_prompt',
  'generationConfig.temperature', 'generationConfig.topP', 'generationConfig.topK', 'generationConfig.seed',
  'generationConfig.presencePenalty', 'generationConfig.frequencyPenalty',
  'generationConfig.thinkingConfig.thinkingBudget', 'generationConfig.thinkingConfig.thinkingLevel',
  'generationConfig.thinkingConfig.includeThoughts',
];

/** What keeps less is allowed, what keeps more is not. */
const onlyValues: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['provider.data_collection', 'deny'],
  ['provider.zdr', true],
]);

/** Members by which a client says what a host keeps, and which hosts may have its texts: they are not lifted. */
const restrictions: ReadonlySet<string> = new Set([...onlyValues.keys(), 'provider.only', 'provider.ignore']);

const ofTemplate = 'chat_template_kwargs.';
/** What hosts hand to a chat's template under these names is its texts, tools or form, or cuts it. */
const templateTexts =
  /template|message|conversation|tool|function|document|^(?:tokenize|add_generation_prompt|continue_final_message|truncation|max_length|padding)$/i;
/** The only words that a template is given. */
const templateEfforts: ReadonlySet<unknown> = new Set([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
]);

const patterns = adjustable.map(
  (path) => new RegExp(`^${path.replaceAll('.', '\\.').replace('*', '[A-Za-z0-9_-]{1,64}')}$`),
);
const isAdjustable = (path: string) =>
  patterns.some((pattern) => pattern.test(path)) &&
  !(path.startsWith(ofTemplate) && templateTexts.test(path.slice(ofTemplate.length)));

const expected = `not a member that can be set here; there are ${adjustable.join(', ')}. Never texts, tools, the model, caps on output or what a host keeps, on which rules and limits depend`;

const removable = reaching(
  'parameter',
  z
    .string()
    .refine(isAdjustable, expected)
    .refine(
      (path) => !restrictions.has(path),
      "can't be removed: by it a client says what a host keeps or which hosts may have its texts",
    ),
);

const scalar = z.union([z.string().max(1_000), z.number(), z.boolean()]);

/** Why a member can't have the value; undefined if it can. */
function problemWith(path: string, value: unknown): string | undefined {
  if (!isAdjustable(path)) return expected;
  const only = onlyValues.get(path);
  if (only !== undefined && value !== only)
    return `can only be ${JSON.stringify(only)}: what a host keeps is not loosened here`;
  if (restrictions.has(path) && Array.isArray(value) && value.length === 0)
    return 'names no host, which would allow all of them';
  if (!path.startsWith(ofTemplate) || typeof value === 'number' || typeof value === 'boolean')
    return undefined;
  if (path === `${ofTemplate}reasoning_effort` && templateEfforts.has(value)) return undefined;
  return `can only be true, false or a number, and reasoning_effort one of ${[...templateEfforts].join(', ')}: a template would write any other word into the prompt`;
}

const values = reaching(
  'parameter',
  z.record(z.string(), z.union([scalar, z.array(scalar).max(100)])).superRefine((given, context) => {
    for (const [path, value] of Object.entries(given)) {
      const message = problemWith(path, value);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [path], message });
    }
  }),
);

const headerNames = headerName.refine(
  (name) => !/^(?:content-type|x-goog-api-key|api-key|accept)$/i.test(name),
  'this header is never set here',
);

/** What is changed in requests for a target. */
export const targetChanges = {
  set: values
    .clone()
    .optional()
    .register(
      ...about(
        'Members of the body that leaves, by their paths (`provider.order`), with the values that they get, whatever the client sent.',
      ),
    ),
  default: values
    .clone()
    .optional()
    .register(...about('The same, where the client sent none.')),
  remove: z
    .array(removable.clone())
    .max(100)
    .optional()
    .register(...about('Members that are left out, by their paths.')),
  headers: reaching(
    'header',
    z.record(
      headerNames,
      z.string().regex(/^[\x20-\x7e]{1,4096}$/, 'expected 1 to 4096 visible ASCII characters and blanks'),
    ),
  )
    .optional()
    .register(
      ...about(
        `Headers that its requests have; a secret as \${NAME}. The client's own of these names are not forwarded.`,
      ),
    ),
};
