import * as z from 'zod';

// The parts of which the strict forms of all dialects are made. `nullish`: null counts as missing, as for the real hosts.

export type Fields = Readonly<Record<string, unknown>>;
export type Path = readonly (string | number)[];

export const text = z.string();
export const filled = text.min(1);
export const visible = text.refine((value) => value.trim() !== '', 'needs more than white space');
export const flag = z.boolean();
export const fields = z.record(text, z.unknown());
export const cap = z.int().min(1);
export const name = text.regex(/^[a-zA-Z0-9_-]{1,64}$/);
export const between = (minimum: number, maximum: number) => z.number().min(minimum).max(maximum);

/** Checked by the form that the value itself chooses: unlike a union, it says where within that form a value is wrong. */
export function by(choose: (value: Fields) => z.ZodType): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    for (const { path, message } of choose(value as Fields).safeParse(value).error?.issues ?? [])
      context.addIssue({ code: 'custom', path, message });
  });
}

/** A text, or a list of parts. */
export const textOr = (parts: z.ZodType, one: z.ZodType = text) =>
  by((value) => (typeof value === 'string' ? one : parts));

/** An object by its `type`; other types have the form `other`, or are refused. */
export function byType(
  forms: Readonly<Record<string, z.ZodType>>,
  other?: (type: string) => z.ZodType | undefined,
) {
  return by((value) => {
    const { type } = z.object({ type: filled }).safeParse(value).data ?? {};
    const form = type === undefined || !Object.hasOwn(forms, type) ? undefined : forms[type];
    return (
      form ??
      (type === undefined ? undefined : other?.(type)) ??
      z.object({ type: z.enum(Object.keys(forms)) })
    );
  });
}

/** Fields of another dialect: a careless translation leaves them behind. */
export const foreign = (...names: readonly string[]) =>
  Object.fromEntries(names.map((each) => [each, z.undefined('this endpoint has no such field').optional()]));

/** `{name, description?, parameters?, strict?}`, which Chat nests and Responses has at the top of a tool. */
export const functionForm = z.object({
  name,
  description: text.nullish(),
  strict: flag.nullish(),
  parameters: fields
    .refine(
      (value) =>
        Object.keys(value).length === 0 ||
        (value.type === 'object' && ['properties', '$ref', 'anyOf', 'allOf'].some((each) => each in value)),
      'a schema of the type "object" needs properties',
    )
    .nullish(),
});
export const customForm = z.object({ name, description: text.nullish(), format: fields.nullish() });
/** `{name, schema, strict?}`, which Chat nests and Responses has at the top of a format. */
export const schemaForm = z.object({ name, strict: flag.nullish(), schema: fields });
export const choiceWord = z.enum(['none', 'auto', 'required']);
export const allowedMode = z.enum(['auto', 'required']);
export const effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

/** What is wrong with a request whose parts are right by themselves, and where. */
export type Wrong = readonly [path: Path, message: string] | undefined;

/** The form of a whole request, with what its parts owe each other. */
export function wholeRequest<Form extends z.ZodType>(form: Form, check: (body: z.infer<Form>) => Wrong) {
  return form.superRefine((body, context) => {
    const [path, message] = check(body) ?? [];
    if (path !== undefined) context.addIssue({ code: 'custom', path: [...path], message: message ?? '' });
  });
}
