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
  name,
  schemaForm,
  text,
  textOr,
  type Wrong,
  wholeRequest,
} from './shapes.ts';

const words = z.object({ text });
const outputParts = {
  input_text: words,
  // A plain string here; Chat has an object.
  input_image: z.object({ image_url: text.nullish() }),
  input_file: fields,
};
const userParts = { ...outputParts, input_audio: fields };
const assistantParts = { output_text: words, refusal: z.object({ refusal: text }) };
const parts = (forms: Readonly<Record<string, z.ZodType>>) => textOr(z.array(byType(forms)));

const id = (prefix: string) => text.startsWith(prefix, `an id of this item begins with ${prefix}`).nullish();
const message = by((value) =>
  value?.role === 'assistant'
    ? z.object({ id: id('msg'), content: parts(assistantParts) })
    : z.object({ role: z.enum(['user', 'assistant', 'system', 'developer']), content: parts(userParts) }),
);
const output = z.object({ call_id: filled, output: parts(outputParts) });
// Items of hosted tools and of the host's own state: accepted without a check.
const otherItems =
  /^(?:\w+_call|\w+_call_output|mcp_\w+|tool_search_\w+|compaction\w*|configuration_update|additional_tools)$/;
const item = by((value) =>
  (value?.type ?? 'message') === 'message'
    ? message
    : byType(
        {
          message,
          function_call: z.object({ id: id('fc'), name: filled, arguments: text, call_id: filled }),
          custom_tool_call: z.object({ name: filled, input: text, call_id: filled }),
          function_call_output: output,
          custom_tool_call_output: output,
          reasoning: z.object({ id: id('rs'), summary: z.array(fields) }),
        },
        (type) => (otherItems.test(type) ? fields : undefined),
      ),
);

const tool = byType(
  {
    function: functionForm,
    custom: customForm,
    namespace: z.object({ name, tools: z.array(functionForm.extend({ type: z.literal('function') })) }),
  },
  () => fields, // a hosted tool
);
const named = z.object({ name: filled });
const choice = by((value) =>
  typeof value === 'string'
    ? choiceWord
    : byType(
        {
          function: named,
          custom: named,
          allowed_tools: z.object({ mode: allowedMode, tools: z.array(z.object({ type: filled })).min(1) }),
        },
        () => fields,
      ),
);

const request = z.object({
  ...foreign(
    'messages',
    'max_tokens',
    'max_completion_tokens',
    'n',
    'stop',
    'response_format',
    'reasoning_effort',
  ),
  ...foreign('frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'seed', 'functions'),
  ...foreign('function_call', 'system', 'stop_sequences', 'thinking', 'output_config', 'top_k'),
  // A host that keeps nothing.
  ...foreign('previous_response_id', 'conversation', 'prompt'),
  background: z.literal([false, null]).optional(),
  input: textOr(z.array(item)),
  instructions: text.nullish(),
  store: flag.nullish(),
  metadata: fields.nullish(),
  temperature: between(0, 2).nullish(),
  top_p: between(0, 1).nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  parallel_tool_calls: flag.nullish(),
  max_output_tokens: cap.nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: choice.optional(),
  text: z
    .object({ format: byType({ text: fields, json_object: fields, json_schema: schemaForm }).optional() })
    .nullish(),
  reasoning: z
    .object({ summary: z.enum(['auto', 'concise', 'detailed']).nullish(), effort: effort.nullish() })
    .nullish(),
  include: z.array(text).nullish(),
  stream: flag.nullish(),
});

/** POST /v1/responses, as strict as the real host. */
export const responsesRequest = wholeRequest(request, ({ input, tools, tool_choice }) => {
  const offered = (tools ?? []) as readonly Fields[];
  return (
    checkCalls(Array.isArray(input) ? input : []) ?? checkChoice(tool_choice as Fields | string, offered)
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

function checkChoice(chosen: Fields | string | undefined | null, tools: readonly Fields[]): Wrong {
  if (chosen === 'required' && tools.length === 0)
    return [['tool_choice'], 'there are no tools to choose from'];
  if (typeof chosen !== 'object' || chosen === null || chosen.type === 'allowed_tools') return undefined;
  const isNamed = chosen.type === 'function' || chosen.type === 'custom';
  const offered = tools.flatMap((each) => [each, ...((each.tools ?? []) as readonly Fields[])]);
  const isOffered = offered.some((each) => (isNamed ? each.name === chosen.name : each.type === chosen.type));
  return isOffered ? undefined : [['tool_choice', isNamed ? 'name' : 'type'], 'tools has no such tool'];
}
