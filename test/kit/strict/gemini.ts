import * as z from 'zod';
import { between, cap, type Fields, fields, filled, flag, text, type Wrong, wholeRequest } from './shapes.ts';

const call = z.strictObject({ id: filled.optional(), name: filled, args: fields });
const part = z.union([
  z.strictObject({ text }),
  z.strictObject({ functionCall: call, thoughtSignature: filled.optional() }),
  z.strictObject({
    functionResponse: z.strictObject({ id: filled.optional(), name: filled, response: fields }),
  }),
  z.strictObject({ inlineData: z.strictObject({ mimeType: filled, data: filled }) }),
  z.strictObject({ fileData: z.strictObject({ mimeType: filled, fileUri: filled }) }),
]);
const content = z.strictObject({ role: z.enum(['user', 'model']), parts: z.array(part).min(1) });

const declaration = z.strictObject({
  name: text.regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/),
  description: text.optional(),
  parametersJsonSchema: fields.optional(),
});
const calling = z.strictObject({
  mode: z.enum(['AUTO', 'ANY', 'NONE']),
  allowedFunctionNames: z.array(filled).min(1).optional(),
});

const config = z
  .strictObject({
    maxOutputTokens: cap.optional(),
    temperature: between(0, 2),
    topP: between(0, 1),
    stopSequences: z.array(filled).min(1).max(5).optional(),
    responseMimeType: z.literal('application/json').optional(),
    responseJsonSchema: fields.optional(),
    thinkingConfig: z
      .strictObject({
        includeThoughts: flag.optional(),
        thinkingBudget: z.int().min(-1).max(32_768).optional(),
        thinkingLevel: z.enum(['minimal', 'low', 'medium', 'high']).optional(),
      })
      .refine(
        (value) => !('thinkingBudget' in value && 'thinkingLevel' in value),
        'only one of budget and level',
      )
      .optional(),
  })
  .refine(
    (value) => value.responseJsonSchema === undefined || value.responseMimeType !== undefined,
    'a schema needs the type application/json',
  );

const request = z.strictObject({
  contents: z.array(content).min(1),
  systemInstruction: z.strictObject({ parts: z.array(z.strictObject({ text: filled })).min(1) }).optional(),
  tools: z
    .array(z.strictObject({ functionDeclarations: z.array(declaration).min(1) }))
    .min(1)
    .optional(),
  toolConfig: z.strictObject({ functionCallingConfig: calling }).optional(),
  generationConfig: config.optional(),
});

/** POST …:generateContent and :streamGenerateContent, as strict as the real host. */
export const geminiRequest = wholeRequest(request, ({ contents, tools = [], toolConfig }) => {
  const declared = tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name));
  return checkCalls(contents) ?? checkChoice(toolConfig?.functionCallingConfig, declared);
});

interface Content {
  readonly role: string;
  readonly parts: readonly Fields[];
}

/** Each call is answered in the turn behind it, under its name. */
function checkCalls(contents: readonly Content[]): Wrong {
  const namesOf = (turn: Content | undefined, member: string) =>
    (turn?.parts ?? []).flatMap((each) => (member in each ? [(each[member] as Fields).name] : []));
  for (const [at, turn] of contents.entries()) {
    const calls = namesOf(contents[at - 1], 'functionCall');
    const answers = namesOf(turn, 'functionResponse');
    if (calls.join() !== answers.join())
      return [['contents', at, 'parts'], 'as many function responses are needed as there are calls before'];
    if (turn.role === 'user' && namesOf(turn, 'functionCall').length > 0)
      return [['contents', at, 'role'], 'only a model calls functions'];
  }
  const isOpen = namesOf(contents.at(-1), 'functionCall').length > 0;
  return isOpen ? [['contents', contents.length - 1], 'these calls have no responses'] : undefined;
}

function checkChoice(choice: z.infer<typeof calling> | undefined, declared: readonly string[]): Wrong {
  const { mode, allowedFunctionNames: allowed = [] } = choice ?? {};
  const path = ['toolConfig', 'functionCallingConfig', 'allowedFunctionNames'];
  if (allowed.length > 0 && mode !== 'ANY') return [path, 'only with the mode ANY'];
  const unknown = allowed.findIndex((name) => !declared.includes(name));
  return unknown < 0 ? undefined : [[...path, unknown], 'no such function is declared'];
}
