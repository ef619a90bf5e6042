import * as z from 'zod';
import {
  allowedMode,
  between,
  by,
  byType,
  cap,
  choiceWord,
  customForm,
  effort,
  type Fields,
  fields,
  filled,
  flag,
  foreign,
  functionForm,
  schemaForm,
  text,
  textOr,
  type Wrong,
  wholeRequest,
} from './shapes.ts';

const textPart = z.object({ text });
const textParts = { text: textPart };
const userParts = {
  ...textParts,
  image_url: z.object({ image_url: z.object({ url: filled }) }),
  input_audio: z.object({ input_audio: z.object({ data: filled, format: filled }) }),
  file: z.object({ file: fields }),
};
const assistantParts = { ...textParts, refusal: z.object({ refusal: text }) };
const content = (parts: Readonly<Record<string, z.ZodType>>) => textOr(z.array(byType(parts)).min(1));

const call = byType({
  function: z.object({ function: z.object({ name: filled, arguments: text }), id: filled }),
  custom: z.object({ custom: z.object({ name: filled, input: text }), id: filled }),
});
const assistant = z
  .object({
    tool_calls: z.array(call).min(1).nullish(),
    content: by((value) =>
      value === null || value === undefined ? z.unknown() : content(assistantParts),
    ).optional(),
    refusal: text.nullish(),
    reasoning_content: text.nullish(),
    function_call: fields.nullish(),
  })
  .refine((value) => value.content ?? value.tool_calls ?? value.refusal ?? value.function_call, {
    path: ['content'],
    message: 'an assistant message needs content or tool_calls',
  });
const forms: Readonly<Record<string, z.ZodType>> = {
  system: z.object({ content: content(textParts) }),
  developer: z.object({ content: content(textParts) }),
  user: z.object({ content: content(userParts) }),
  assistant,
  tool: z.object({ tool_call_id: filled, content: content(textParts) }),
  function: z.object({ name: filled }),
};
const message = by((value) => {
  const form = forms[String(value?.role)];
  return form ?? z.object({ role: z.enum(Object.keys(forms)) });
});

const tool = byType({
  function: z.object({ function: functionForm }),
  custom: z.object({ custom: customForm }),
});
const named = z.object({ name: filled });
const reference = byType({ function: z.object({ function: named }), custom: z.object({ custom: named }) });
const choice = by((value) =>
  typeof value === 'string'
    ? choiceWord
    : byType({
        function: z.object({ function: named }),
        custom: z.object({ custom: named }),
        allowed_tools: z.object({
          allowed_tools: z.object({ mode: allowedMode, tools: z.array(reference).min(1) }),
        }),
      }),
);

const nothing = (message: string) => z.literal([false, null], message).optional();

const request = z.object({
  ...foreign(
    'system',
    'stop_sequences',
    'thinking',
    'output_config',
    'context_management',
    'anthropic_version',
  ),
  ...foreign(
    'input',
    'instructions',
    'max_output_tokens',
    'text',
    'reasoning',
    'include',
    'previous_response_id',
  ),
  // Fields that were replaced long ago.
  ...foreign('functions', 'function_call'),
  messages: z.array(message).min(1),
  stream: flag.nullish(),
  max_completion_tokens: cap.nullish(),
  max_tokens: cap.nullish(),
  temperature: between(0, 2).nullish(),
  top_p: between(0, 1).nullish(),
  frequency_penalty: between(-2, 2).nullish(),
  presence_penalty: between(-2, 2).nullish(),
  seed: z.int().nullish(),
  logit_bias: fields.nullish(),
  logprobs: nothing('this model has no log probabilities'),
  top_logprobs: nothing('this model has no log probabilities'),
  modalities: z.array(z.literal('text')).nullish(),
  audio: nothing('this model writes text only'),
  tools: z.array(tool).min(1).max(128).nullish(),
  parallel_tool_calls: flag.nullish(),
  tool_choice: choice.optional(),
  response_format: byType({
    text: fields,
    json_object: fields,
    json_schema: z.object({ json_schema: schemaForm }),
  }).optional(),
  stop: textOr(z.array(filled).max(4), filled).optional(),
  reasoning_effort: effort.nullish(),
  n: z.int().min(1).max(128).nullish(),
  stream_options: z.object({ include_usage: flag.nullish() }).nullish(),
});
type Body = z.infer<typeof request>;

/** POST /v1/chat/completions, as strict as the real host. */
export const chatRequest = wholeRequest(request, (body) => {
  if (typeof body.max_tokens === 'number' && typeof body.max_completion_tokens === 'number')
    return [['max_tokens'], 'max_completion_tokens is set too; only one of them may be'];
  if (typeof body.stream_options === 'object' && body.stream_options !== null && body.stream !== true)
    return [['stream_options'], 'only a request with stream: true may have it'];
  return checkOrder(body.messages as readonly Fields[]) ?? checkTools(body);
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

function checkTools({ tools, tool_choice, parallel_tool_calls }: Body): Wrong {
  if (typeof tool_choice === 'object' && tool_choice !== null) {
    const chosen = tool_choice as Readonly<Record<string, Fields>> & { readonly type: string };
    const names = (tools ?? []).map((each) => (each as typeof chosen)[(each as typeof chosen).type]?.name);
    if (names.length > 0 && chosen.type !== 'allowed_tools' && !names.includes(chosen[chosen.type]?.name))
      return [['tool_choice', chosen.type, 'name'], 'tools has no tool of this name'];
  }
  if (tools !== undefined && tools !== null) return undefined;
  if (tool_choice !== undefined && tool_choice !== null && tool_choice !== 'none')
    return [['tool_choice'], 'there are no tools to choose from'];
  const isParallel = typeof parallel_tool_calls === 'boolean';
  return isParallel ? [['parallel_tool_calls'], 'only a request with tools may have it'] : undefined;
}
