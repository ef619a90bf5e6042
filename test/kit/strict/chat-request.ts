import type { Ask, Format, Tool, ToolChoice } from './ask.ts';
import { parseChatConversation } from './chat-conversation.ts';
import {
  anything,
  flag,
  integer,
  list,
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
import {
  allow,
  chooseNamed,
  parseChoiceWord,
  parseCustomTool,
  parseFunction,
  parseSchemaFormat,
} from './openai-tools.ts';
import { invalidField, type Path } from './refusal.ts';

/** A request of the Chat dialect, checked. */
export interface ChatRequest {
  readonly ask: Ask;
  readonly choices: number;
  readonly isStreaming: boolean;
  readonly includesUsage: boolean;
}

const foreignFields = [
  ...['system', 'stop_sequences', 'thinking', 'output_config', 'context_management', 'anthropic_version'],
  ...['input', 'instructions', 'max_output_tokens', 'text', 'reasoning', 'include', 'previous_response_id'],
  // Fields that were replaced long ago; the sandbox does not support them.
  ...['functions', 'function_call'],
];

/** Parses the body of POST /v1/chat/completions. Throws a 400 as strict as the real host's. */
export function parseChatRequest(body: Owner): ChatRequest {
  refuseFields(body, foreignFields);
  const conversation = parseChatConversation(body);
  const isStreaming = optional(body, 'stream', flag) ?? false;
  const outputCap = parseCap(body);
  checkSampling(body);
  checkOutput(body);
  const ask: Ask = {
    ...conversation,
    ...parseTools(body),
    format: parseFormat(body),
    ...(outputCap === undefined ? {} : { outputCap }),
    stops: optional(body, 'stop', parseStops) ?? [],
    mayThink: parseEffort(body) !== 'none',
  };
  const choices = optional(body, 'n', integer({ minimum: 1, maximum: 128 })) ?? 1;
  return { ask, choices, isStreaming, includesUsage: parseUsageWish(body, isStreaming) };
}

function parseCap(body: Owner): number | undefined {
  const cap = optional(body, 'max_completion_tokens', integer({ minimum: 1 }));
  const oldCap = optional(body, 'max_tokens', integer({ minimum: 1 }));
  if (cap === undefined || oldCap === undefined) return cap ?? oldCap;
  throw invalidField(['max_tokens'], 'max_completion_tokens is set too; only one of them may be');
}

function checkSampling(body: Owner): void {
  optional(body, 'temperature', number({ minimum: 0, maximum: 2 }));
  optional(body, 'top_p', number({ minimum: 0, maximum: 1 }));
  optional(body, 'frequency_penalty', number({ minimum: -2, maximum: 2 }));
  optional(body, 'presence_penalty', number({ minimum: -2, maximum: 2 }));
  optional(body, 'seed', integer({}));
  optional(body, 'logit_bias', object);
}

/** What the sandbox can't do is refused: if it were ignored, it would look like the client's fault. */
function checkOutput(body: Owner): void {
  const unsupported = 'unsupported_parameter';
  if (optional(body, 'logprobs', flag) === true || optional(body, 'top_logprobs', anything) !== undefined) {
    throw invalidField(['logprobs'], 'this model has no log probabilities', unsupported);
  }
  const modalities = optional(body, 'modalities', list(text)) ?? [];
  if (modalities.some((modality) => modality !== 'text') || optional(body, 'audio', anything) !== undefined) {
    throw invalidField(['modalities'], 'this model writes text only', unsupported);
  }
}

function parseStops(value: unknown, path: Path): readonly string[] {
  return typeof value === 'string'
    ? [nonEmptyText(value, path)]
    : list(nonEmptyText, { maximum: 4 })(value, path);
}

function parseEffort(body: Owner): string | undefined {
  return optional(
    body,
    'reasoning_effort',
    oneOf(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
  );
}

function parseUsageWish(body: Owner, isStreaming: boolean): boolean {
  const options = optional(body, 'stream_options', object);
  if (options === undefined) return false;
  if (!isStreaming) throw invalidField(['stream_options'], 'only a request with stream: true may have it');
  return optional(options, 'include_usage', flag) ?? false;
}

interface Offer {
  readonly name: string;
  /** Missing for a tool that the sandbox can't call. */
  readonly tool?: Tool;
}

function parseTools(body: Owner): { tools: readonly Tool[]; toolChoice: ToolChoice } {
  const offers = optional(body, 'tools', list(parseTool, { minimum: 1, maximum: 128 }));
  if (offers === undefined) {
    refuseWithoutTools(body);
    return { tools: [], toolChoice: { kind: 'auto' } };
  }
  optional(body, 'parallel_tool_calls', flag);
  const tools = offers.flatMap(({ tool }) => (tool === undefined ? [] : [tool]));
  const choice = optional(body, 'tool_choice', anything);
  if (choice === undefined) return { tools, toolChoice: { kind: 'auto' } };
  if (typeof choice === 'string') return { tools, toolChoice: parseChoiceWord(choice, ['tool_choice']) };
  return parseChoiceObject(object(choice, ['tool_choice']), offers, tools);
}

function refuseWithoutTools(body: Owner): void {
  const choice = optional(body, 'tool_choice', anything);
  if (choice !== undefined && choice !== 'none')
    throw invalidField(['tool_choice'], 'there are no tools to choose from');
  if (optional(body, 'parallel_tool_calls', flag) !== undefined) {
    throw invalidField(['parallel_tool_calls'], 'only a request with tools may have it');
  }
}

function parseTool(value: unknown, path: Path): Offer {
  const owner = object(value, path);
  const type = required(owner, 'type', oneOf(['function', 'custom']));
  const inner = required(owner, type, object);
  const tool = type === 'function' ? parseFunction(inner) : parseCustomTool(inner);
  const name = required(inner, 'name', nonEmptyText);
  return tool === undefined ? { name } : { name, tool };
}

function parseChoiceObject(choice: Owner, offers: readonly Offer[], tools: readonly Tool[]) {
  const type = required(choice, 'type', oneOf(['function', 'custom', 'allowed_tools']));
  const inner = required(choice, type, object);
  if (type !== 'allowed_tools') {
    const chosen = required(inner, 'name', nonEmptyText);
    const names = offers.map(({ name }) => name);
    return { tools, toolChoice: chooseNamed(chosen, names, [...inner.path, 'name']) };
  }
  const mode = required(inner, 'mode', oneOf(['auto', 'required']));
  const allowed = required(inner, 'tools', list(parseAllowed, { minimum: 1 }));
  return allow(tools, allowed, mode);
}

function parseAllowed(value: unknown, path: Path): string {
  const owner = object(value, path);
  const type = required(owner, 'type', oneOf(['function', 'custom']));
  return required(required(owner, type, object), 'name', nonEmptyText);
}

function parseFormat(body: Owner): Format {
  const format = optional(body, 'response_format', object);
  if (format === undefined) return { kind: 'text' };
  const type = required(format, 'type', oneOf(['text', 'json_object', 'json_schema']));
  if (type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json' };
  return parseSchemaFormat(required(format, 'json_schema', object));
}
