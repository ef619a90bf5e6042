import * as z from 'zod';
import {
  byType,
  cap,
  checkChoice,
  choiceWord,
  effort,
  type Fields,
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
const call = z.strictObject({
  id: filled,
  type: z.literal('function'),
  function: z.strictObject({ name: filled, arguments: text }),
});
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'developer']), content: text }),
  z.strictObject({ role: z.literal('user'), content: textOr(z.array(userPart).min(1)) }),
  z
    .strictObject({
      role: z.literal('assistant'),
      content: text.nullable(),
      tool_calls: z.array(call).min(1).optional(),
    })
    .refine((value) => value.content ?? value.tool_calls, {
      path: ['content'],
      message: 'an assistant message needs content or tool_calls',
    }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: filled, content: text }),
]);

const request = z.strictObject({
  ...openAiShape,
  messages: z.array(message).min(1),
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
export const chatRequest = wholeRequest(request, (body) => {
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
