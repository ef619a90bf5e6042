import type { Ask, Format, Tool, ToolChoice } from './ask.ts';
import {
  anything,
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
import {
  allow,
  chooseNamed,
  parseChoiceWord,
  parseCustomTool,
  parseFunction,
  parseSchemaFormat,
} from './openai-tools.ts';
import { invalidField, type Path, Refusal } from './refusal.ts';
import { parseInput } from './responses-input.ts';

/** A request of the Responses dialect, checked. */
export interface ResponsesRequest {
  readonly ask: Ask;
  readonly isStreaming: boolean;
  readonly wantsEncryptedReasoning: boolean;
}

const foreignFields = [
  ...['messages', 'max_tokens', 'max_completion_tokens', 'n', 'stop', 'response_format', 'reasoning_effort'],
  ...[
    'frequency_penalty',
    'presence_penalty',
    'logit_bias',
    'logprobs',
    'seed',
    'functions',
    'function_call',
  ],
  ...['system', 'stop_sequences', 'thinking', 'output_config', 'top_k'],
];

/** Parses the body of POST /v1/responses. Throws a 400 as strict as the real host's. */
export function parseResponsesRequest(body: Owner): ResponsesRequest {
  refuseFields(body, foreignFields);
  refuseState(body);
  const conversation = parseInput(body);
  optional(body, 'instructions', text);
  optional(body, 'store', flag);
  optional(body, 'metadata', object);
  optional(body, 'temperature', number({ minimum: 0, maximum: 2 }));
  optional(body, 'top_p', number({ minimum: 0, maximum: 1 }));
  optional(body, 'truncation', oneOf(['auto', 'disabled']));
  optional(body, 'parallel_tool_calls', flag);
  const outputCap = optional(body, 'max_output_tokens', integer({ minimum: 1 }));
  const ask: Ask = {
    ...conversation,
    ...parseTools(body),
    format: parseFormat(body),
    ...(outputCap === undefined ? {} : { outputCap }),
    stops: [],
    mayThink: parseEffort(body) !== 'none',
  };
  const include = optional(body, 'include', list(text)) ?? [];
  return {
    ask,
    isStreaming: optional(body, 'stream', flag) ?? false,
    wantsEncryptedReasoning: include.includes('reasoning.encrypted_content'),
  };
}

/** The sandbox stores no requests, so one that refers to an earlier one can't be answered. */
function refuseState(body: Owner): void {
  if (optional(body, 'previous_response_id', text) !== undefined) {
    throw new Refusal(400, 'the sandbox keeps no responses; send the whole input', {
      path: ['previous_response_id'],
      code: 'previous_response_not_found',
    });
  }
  for (const name of ['conversation', 'prompt']) {
    if (optional(body, name, anything) === undefined) continue;
    throw invalidField([name], 'the sandbox keeps no state; send the whole input', 'unsupported_parameter');
  }
  if (optional(body, 'background', flag) !== true) return;
  throw invalidField(['background'], 'the sandbox answers at once only', 'unsupported_parameter');
}

function parseEffort(body: Owner): string | undefined {
  const reasoning = optional(body, 'reasoning', object);
  if (reasoning === undefined) return undefined;
  optional(reasoning, 'summary', oneOf(['auto', 'concise', 'detailed']));
  return optional(reasoning, 'effort', oneOf(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']));
}

/** A tool by its name in `tool_choice`; without `tool` if the sandbox can't call it. */
interface Offer {
  readonly name: string;
  readonly tool?: Tool;
}

function parseTools(body: Owner): { tools: readonly Tool[]; toolChoice: ToolChoice } {
  const offers = (optional(body, 'tools', list(parseTool)) ?? []).flat();
  const tools = offers.flatMap(({ tool }) => (tool === undefined ? [] : [tool]));
  const choice = optional(body, 'tool_choice', anything);
  const path = ['tool_choice'];
  if (choice === undefined) return { tools, toolChoice: { kind: 'auto' } };
  if (typeof choice !== 'string') return parseChoiceObject(object(choice, path), offers, tools);
  const toolChoice = parseChoiceWord(choice, path);
  if (toolChoice.kind === 'required' && offers.length === 0)
    throw invalidField(path, 'there are no tools to choose from');
  return { tools, toolChoice };
}

/** Hosted tools (web_search and the like) are accepted and never called, as nothing could run them. */
function parseTool(value: unknown, path: Path): readonly Offer[] {
  const owner = object(value, path);
  const type = required(owner, 'type', nonEmptyText);
  if (type === 'namespace') return parseNamespace(owner);
  if (type !== 'function' && type !== 'custom') return [{ name: type }];
  const tool = type === 'function' ? parseFunction(owner) : parseCustomTool(owner);
  const name = required(owner, 'name', nonEmptyText);
  return [tool === undefined ? { name } : { name, tool }];
}

function parseNamespace(owner: Owner): readonly Offer[] {
  const namespace = required(owner, 'name', matching(/^[a-zA-Z0-9_-]{1,64}$/));
  const parse = (value: unknown, path: Path): Offer => {
    const inner = object(value, path);
    required(inner, 'type', oneOf(['function']));
    const tool = { ...parseFunction(inner), namespace };
    return { name: tool.name, tool };
  };
  return required(owner, 'tools', list(parse));
}

function parseChoiceObject(choice: Owner, offers: readonly Offer[], tools: readonly Tool[]) {
  const type = required(choice, 'type', nonEmptyText);
  const names = offers.map(({ name }) => name);
  if (type === 'allowed_tools') {
    const mode = required(choice, 'mode', oneOf(['auto', 'required']));
    return allow(tools, required(choice, 'tools', list(parseAllowed, { minimum: 1 })), mode);
  }
  const isNamed = type === 'function' || type === 'custom';
  const chosen = isNamed ? required(choice, 'name', nonEmptyText) : type;
  return { tools, toolChoice: chooseNamed(chosen, names, [...choice.path, isNamed ? 'name' : 'type']) };
}

function parseAllowed(value: unknown, path: Path): string {
  const owner = object(value, path);
  return optional(owner, 'name', nonEmptyText) ?? required(owner, 'type', nonEmptyText);
}

function parseFormat(body: Owner): Format {
  const config = optional(body, 'text', object);
  const format = config === undefined ? undefined : optional(config, 'format', object);
  if (format === undefined) return { kind: 'text' };
  const type = required(format, 'type', oneOf(['text', 'json_object', 'json_schema']));
  if (type === 'text') return { kind: 'text' };
  return type === 'json_object' ? { kind: 'json' } : parseSchemaFormat(format);
}
