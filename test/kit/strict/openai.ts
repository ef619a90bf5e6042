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

const userPart = byType({
  text: { text },
  image_url: { image_url: z.strictObject({ url: filled, detail: filled.optional() }) },
  file: { file: z.strictObject({ filename: filled, file_data: filled }) },
});
const chatCall = z.strictObject({
  id: filled,
  type: z.literal('function'),
  function: z.strictObject({ name: filled, arguments: text }),
});
const chatMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'developer']), content: text }),
  z.strictObject({ role: z.literal('user'), content: textOr(z.array(userPart).min(1)) }),
  z
    .strictObject({
      role: z.literal('assistant'),
      content: text.nullable(),
      tool_calls: z.array(chatCall).min(1).optional(),
    })
    .refine((value) => value.content || value.tool_calls, {
      path: ['content'],
      message: 'an assistant message needs content or tool_calls',
    }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: filled, content: text }),
]);

const chatBody = z.strictObject({
  ...openAiShape,
  messages: z.array(chatMessage).min(1),
  max_completion_tokens: cap.optional(),
  max_tokens: cap.optional(),
  tools: z
    .array(byType({ function: { function: z.strictObject(functionShape) } }))
    .min(1)
    .max(128)
    .optional(),
  tool_choice: textOr(byType({ function: { function: z.strictObject({ name }) } }), choiceWord).optional(),
  response_format: byType({
    json_object: {},
    json_schema: { json_schema: z.strictObject(schemaShape) },
  }).optional(),
  stop: z.array(filled).max(4).optional(),
  reasoning_effort: effort.optional(),
  verbosity: filled.optional(),
  stream_options: z.strictObject({ include_usage: flag }).optional(),
});

/** POST /v1/chat/completions, as strict as the real host. */
export const chatRequest = wholeRequest(chatBody, (body) => {
  const { messages, tools = [], tool_choice: choice } = body;
  if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined)
    return [['max_tokens'], 'max_completion_tokens is set too; only one of them may be'];
  if (body.stream_options !== undefined && body.stream !== true)
    return [['stream_options'], 'only a request with stream: true may have it'];
  if (body.parallel_tool_calls !== undefined && tools.length === 0)
    return [['parallel_tool_calls'], 'only a request with tools may have it'];
  const chosen = (choice as { function?: Fields } | undefined)?.function?.name;
  const names = tools.map((tool) => (tool as { function?: Fields }).function?.name);
  return checkOrder(messages) ?? checkChoice(choice, chosen, names, ['tool_choice', 'function', 'name']);
});

/** Tool messages directly follow the assistant message with their calls, one for each call. */
function checkOrder(messages: readonly Fields[]): Wrong {
  let open = new Set<unknown>();
  let calls: readonly unknown[] = [];
  let caller = 0;
  for (const [at, { role, tool_calls, tool_call_id }] of [...messages, {} as Fields].entries()) {
    if (role === 'tool') {
      if (!calls.includes(tool_call_id))
        return [['messages', at], 'a tool message must follow the assistant message with its tool call'];
      open.delete(tool_call_id);
      continue;
    }
    if (open.size > 0)
      return [
        ['messages', caller, 'tool_calls'],
        'every tool call needs a tool message right after this message',
      ];
    caller = at;
    calls = ((tool_calls ?? []) as readonly Fields[]).map(({ id }) => id);
    open = new Set(calls);
  }
  return undefined;
}

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

const responsesBody = z.strictObject({
  ...openAiShape,
  input: textOr(z.array(item)),
  instructions: text.optional(),
  store: flag.optional(),
  include: z.array(z.literal('reasoning.encrypted_content')).optional(),
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
export const responsesRequest = wholeRequest(responsesBody, ({ input, tools = [], tool_choice: choice }) => {
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
