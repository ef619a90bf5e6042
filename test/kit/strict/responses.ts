import * as z from 'zod';
import {
  byType,
  cap,
  checkChoice,
  choiceWord,
  effort,
  type Fields,
  fields,
  filled,
  flag,
  functionShape,
  name,
  openAiShape,
  schemaShape,
  text,
  textOr,
  type Wrong,
  wholeRequest,
} from './shapes.ts';

const inputParts = z.array(
  byType({
    input_text: { text },
    input_image: { image_url: filled, detail: filled },
    input_file: { file_url: filled.optional(), filename: filled.optional(), file_data: filled.optional() },
  }),
);
const outputParts = z.array(byType({ output_text: { text } }));
const messageType = z.literal('message').optional();
const message = z.discriminatedUnion('role', [
  z.strictObject({ type: messageType, role: z.literal('assistant'), content: textOr(outputParts) }),
  z.strictObject({
    type: messageType,
    role: z.enum(['user', 'system', 'developer']),
    content: textOr(inputParts),
  }),
]);
const call = { name: filled, call_id: filled };
const output = { call_id: filled, output: textOr(inputParts) };
const item = z.discriminatedUnion('type', [
  message,
  byType({
    function_call: { ...call, arguments: text },
    custom_tool_call: { ...call, input: text },
    function_call_output: output,
    custom_tool_call_output: output,
  }),
]);

const tool = byType({
  function: functionShape,
  custom: { name, description: text.optional(), format: fields.optional() },
});

const request = z.strictObject({
  ...openAiShape,
  input: textOr(z.array(item)),
  instructions: text.optional(),
  store: flag.optional(),
  metadata: fields.optional(),
  max_output_tokens: cap.optional(),
  tools: z.array(tool).optional(),
  tool_choice: textOr(byType({ function: { name }, custom: { name } }), choiceWord).optional(),
  text: z
    .strictObject({
      format: byType({ json_object: {}, json_schema: schemaShape }).optional(),
      verbosity: filled.optional(),
    })
    .optional(),
  reasoning: z.strictObject({ effort }).optional(),
});

/** POST /v1/responses, as strict as the real host. */
export const responsesRequest = wholeRequest(request, ({ input, tools = [], tool_choice: choice }) => {
  const chosen = (choice as Fields | undefined)?.name;
  const names = tools.map((each: Fields) => each.name);
  return (
    checkCalls(Array.isArray(input) ? input : []) ??
    checkChoice(choice, chosen, names, ['tool_choice', 'name'])
  );
});

function checkCalls(items: readonly Fields[]): Wrong {
  const open = new Map<unknown, number>();
  for (const [at, { type, call_id }] of items.entries()) {
    if (type === 'function_call' || type === 'custom_tool_call') open.set(call_id, at);
    const isOutput = type === 'function_call_output' || type === 'custom_tool_call_output';
    if (isOutput && !open.delete(call_id))
      return [['input', at, 'call_id'], 'there is no unanswered call with this call_id before it'];
  }
  for (const at of open.values()) return [['input', at], 'this call has no output'];
  return undefined;
}
