import * as z from 'zod';

// The parts of which the strict forms are made. They have the fields that translations write and no others, as some real
// hosts do: what a careless translation leaves behind is refused, and so is what nobody has looked up yet.

export type Fields = Readonly<Record<string, unknown>>;

export const text = z.string();
export const filled = text.min(1);
export const visible = text.refine((value) => value.trim() !== '', 'needs more than white space');
export const flag = z.boolean();
export const fields = z.record(text, z.unknown());
export const cap = z.int().min(1);
export const name = text.regex(/^[a-zA-Z0-9_-]{1,64}$/);
export const between = (minimum: number, maximum: number) => z.number().min(minimum).max(maximum).optional();

/** A text, or something else; unlike a union it says where a value is wrong. */
export function textOr(other: z.ZodType, one: z.ZodType = text): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    const form = typeof value === 'string' ? one : other;
    for (const issue of form.safeParse(value).error?.issues ?? [])
      context.addIssue({ code: 'custom', path: [...placeOf(issue)], message: issue.message });
  });
}

/** Where something is wrong: of a field that is not known, the field itself. */
export function placeOf(issue: z.core.$ZodIssue): readonly PropertyKey[] {
  return issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;
}

/** An object by its `type`, which stands for the fields that it has beside. */
export function byType(forms: Readonly<Record<string, z.ZodRawShape>>) {
  const [first, ...others] = Object.entries(forms).map(([type, shape]) =>
    z.strictObject({ ...shape, type: z.literal(type) }),
  );
  if (first === undefined) throw new Error('a form is needed');
  return z.discriminatedUnion('type', [first, ...others]);
}

/** What Chat nests in a tool and Responses has at its top. */
export const functionShape = {
  name,
  description: text.optional(),
  strict: flag.nullish(),
  parameters: fields
    .refine(
      (value) =>
        Object.keys(value).length === 0 ||
        (value.type === 'object' && ['properties', '$ref', 'anyOf', 'allOf'].some((each) => each in value)),
      'a schema of the type "object" needs properties',
    )
    .optional(),
};
/** What Chat nests in a format and Responses has at its top. */
export const schemaShape = { name, strict: flag.optional(), schema: fields, description: text.optional() };
/** What both have at the top of a request. */
export const openAiShape = {
  model: filled,
  temperature: between(0, 2),
  top_p: between(0, 1),
  parallel_tool_calls: flag.optional(),
  safety_identifier: filled.optional(),
  user: filled.optional(),
  service_tier: filled.optional(),
  prompt_cache_key: filled.optional(),
  stream: flag.optional(),
};
export const choiceWord = z.enum(['none', 'auto', 'required']);
export const effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

/** What is wrong with a request whose parts are right by themselves, and where. */
export type Wrong = readonly [path: readonly (string | number)[], message: string] | undefined;

/** A choice needs tools, and a choice of one of them its name. */
export function checkChoice(
  choice: unknown,
  chosen: unknown,
  names: readonly unknown[],
  place: readonly string[],
): Wrong {
  if (choice === undefined || choice === 'none') return undefined;
  if (names.length === 0) return [['tool_choice'], 'there are no tools to choose from'];
  return chosen === undefined || names.includes(chosen)
    ? undefined
    : [place, 'tools has no tool of this name'];
}

/** The form of a whole request, with what its parts owe each other. */
export function wholeRequest<Form extends z.ZodType>(form: Form, check: (body: z.infer<Form>) => Wrong) {
  return form.superRefine((body, context) => {
    const [path, message] = check(body) ?? [];
    if (path !== undefined) context.addIssue({ code: 'custom', path: [...path], message: message ?? '' });
  });
}
