import type { Ask, Format, Tool, ToolChoice } from './ask.ts';
import {
  flag,
  integer,
  list,
  matching,
  nonEmptyText,
  number,
  type Owner,
  object,
  oneOf,
  optional,
  refuseFields,
  required,
  text,
} from './fields.ts';
import { parseTurns, type Turn } from './messages-turns.ts';
import { invalidField, type Path, Refusal } from './refusal.ts';

/** A request of the Messages dialect, checked. */
export interface MessagesRequest {
  readonly ask: Ask;
  readonly isStreaming: boolean;
  /** True if the client asked for signed thinking blocks without their text. */
  readonly hidesThinking: boolean;
}

const foreignFields = [
  ...[
    'n',
    'stop',
    'max_completion_tokens',
    'max_output_tokens',
    'response_format',
    'reasoning_effort',
    'seed',
  ],
  ...[
    'parallel_tool_calls',
    'stream_options',
    'frequency_penalty',
    'presence_penalty',
    'logit_bias',
    'logprobs',
  ],
  ...['input', 'instructions', 'text', 'reasoning', 'include', 'store', 'user', 'developer'],
];

/** Parses the body of POST /v1/messages. Throws a 400 as strict as the real host's. */
export function parseMessagesRequest(body: Owner): MessagesRequest {
  refuseThread(body);
  // Optional here, with a minimum of 0, as in the gateway, which adds a cap only if a provider needs one.
  const outputCap = optional(body, 'max_tokens', integer({ minimum: 0 }));
  const isStreaming = optional(body, 'stream', flag) ?? false;
  const { ask, hidesThinking } = parsePrompt(body, outputCap ?? Number.POSITIVE_INFINITY);
  return { ask: outputCap === undefined ? ask : { ...ask, outputCap }, isStreaming, hidesThinking };
}

/** The sandbox keeps no conversations. Clients that recognize this error code send the whole conversation instead. */
function refuseThread(body: Owner): void {
  if (optional(body, 'thread', object) === undefined) return;
  throw new Refusal(400, 'the sandbox keeps no threads; send all messages', {
    path: ['thread'],
    errorCode: 'thread_unsupported_request',
  });
}

function parsePrompt(body: Owner, outputCap: number) {
  refuseFields(body, foreignFields);
  const turns = parseTurns(body);
  optional(body, 'system', (value, path) =>
    typeof value === 'string' ? value : list(parseSystemBlock)(value, path),
  );
  const tools = optional(body, 'tools', list(parseTool)) ?? [];
  checkUnique(tools.map(({ name }) => name));
  const toolChoice = parseToolChoice(body, tools);
  const thinking = parseThinking(body, outputCap);
  checkThinking(thinking.type, toolChoice, turns);
  checkSampling(body);
  const lastUser = turns.findLast(({ role }) => role === 'user')?.blocks ?? [];
  const ask: Ask = {
    userText: lastUser.findLast((block) => block.type === 'text')?.text ?? '',
    toolResults: lastUser.flatMap((block) => (block.type === 'tool_result' ? [block.text] : [])),
    tools: tools.flatMap(({ tool }) => (tool === undefined ? [] : [tool])),
    toolChoice,
    format: parseFormat(body),
    stops: optional(body, 'stop_sequences', list(visibleText)) ?? [],
    mayThink: thinking.type !== 'disabled',
  };
  return { ask, hidesThinking: thinking.isHidden };
}

function parseSystemBlock(value: unknown, path: Path): void {
  const block = object(value, path);
  required(block, 'type', oneOf(['text']));
  required(block, 'text', nonEmptyText);
}

/** Server tools have a dated type and no schema; the sandbox accepts but never calls them. */
function parseTool(value: unknown, path: Path): { readonly name: string; readonly tool?: Tool } {
  const owner = object(value, path);
  const type = optional(owner, 'type', text) ?? 'custom';
  if (type !== 'custom') return { name: optional(owner, 'name', nonEmptyText) ?? type };
  const name = required(owner, 'name', matching(/^[a-zA-Z0-9_-]{1,128}$/));
  optional(owner, 'description', text);
  const schema = required(owner, 'input_schema', object);
  required(schema, 'type', oneOf(['object']));
  return { name, tool: { name, input: { kind: 'schema', schema: schema.fields, path: schema.path } } };
}

function checkUnique(names: readonly string[]): void {
  const index = names.findIndex((name, i) => names.indexOf(name) !== i);
  if (index >= 0) throw invalidField(['tools', index, 'name'], 'tool names must be unique');
}

function parseToolChoice(body: Owner, tools: readonly { readonly name: string }[]): ToolChoice {
  const choice = optional(body, 'tool_choice', object);
  if (choice === undefined) return { kind: 'auto' };
  const type = required(choice, 'type', oneOf(['auto', 'any', 'tool', 'none']));
  if (type === 'none') {
    refuseFields(choice, ['disable_parallel_tool_use']);
    return { kind: 'none' };
  }
  optional(choice, 'disable_parallel_tool_use', flag);
  if (tools.length === 0) throw invalidField(choice.path, 'there are no tools to choose from');
  if (type === 'auto') return { kind: 'auto' };
  if (type === 'any') return { kind: 'required' };
  const name = required(choice, 'name', nonEmptyText);
  if (!tools.some((tool) => tool.name === name)) {
    throw invalidField([...choice.path, 'name'], 'tools has no tool of this name');
  }
  return { kind: 'named', name };
}

function parseThinking(body: Owner, outputCap: number) {
  const owner = optional(body, 'thinking', object);
  if (owner === undefined) return { type: 'unset', isHidden: false } as const;
  const type = required(owner, 'type', oneOf(['enabled', 'adaptive', 'disabled', 'between_tools']));
  const display = optional(owner, 'display', oneOf(['summarized', 'omitted', 'updates']));
  if (type === 'enabled') {
    const budget = required(owner, 'budget_tokens', integer({ minimum: 1024 }));
    if (budget >= outputCap) throw invalidField([...owner.path, 'budget_tokens'], 'must be below max_tokens');
  }
  return { type, isHidden: display === 'omitted' } as const;
}

function checkThinking(type: string, toolChoice: ToolChoice, turns: readonly Turn[]): void {
  if (type === 'unset' || type === 'disabled') return;
  if (toolChoice.kind === 'required' || toolChoice.kind === 'named') {
    throw invalidField(['tool_choice'], 'a call cannot be forced while thinking is on');
  }
  if (type !== 'enabled') return;
  const called = turns.at(-1)?.blocks.some((block) => block.type === 'tool_result')
    ? turns.at(-2)
    : undefined;
  if (called !== undefined && called.blocks[0]?.type !== 'thinking') {
    throw invalidField(
      [...called.path, 'content'],
      'with thinking on, this turn must begin with its thinking block',
    );
  }
}

function checkSampling(body: Owner): void {
  optional(body, 'temperature', number({ minimum: 0, maximum: 1 }));
  optional(body, 'top_p', number({ minimum: 0, maximum: 1 }));
  optional(body, 'top_k', integer({ minimum: 0 }));
  const metadata = optional(body, 'metadata', object);
  if (metadata !== undefined) optional(metadata, 'user_id', text);
}

function visibleText(value: unknown, path: Path): string {
  if (text(value, path).trim() === '')
    throw invalidField(path, 'a stop sequence needs more than white space');
  return text(value, path);
}

function parseFormat(body: Owner): Format {
  const config = optional(body, 'output_config', object);
  if (config === undefined) return { kind: 'text' };
  optional(config, 'effort', oneOf(['low', 'medium', 'high', 'xhigh', 'max']));
  const format = optional(config, 'format', object);
  if (format === undefined) return { kind: 'text' };
  required(format, 'type', oneOf(['json_schema']));
  const schema = required(format, 'schema', object);
  return { kind: 'schema', schema: schema.fields, path: schema.path };
}
