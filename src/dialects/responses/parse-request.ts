import type { ConversationRequest, OutputFormat, SystemTurn } from '../conversation.ts';
import {
  type Dropped,
  type Fields,
  isFields,
  parseFields,
  parseList,
  parseOptionalCount,
  parseOptionalFlag,
  parseOptionalNumber,
  parseOptionalText,
  parseText,
  toFields,
  toList,
  wrongField,
} from '../fields.ts';
import { parseEffort, splitSystem } from '../translation/parse-common.ts';
import { parseItems } from './parse-items.ts';
import { parseResponsesToolChoice, parseResponsesTools } from './parse-tools.ts';

/** A Responses request in the neutral form. */
export function parseResponsesRequest(body: Fields, dropped: Dropped): ConversationRequest {
  const items = toItems(body.input);
  const tools = parseResponsesTools(
    [...parseList(body.tools ?? [], 'tools'), ...loadedTools(items)],
    dropped,
  );
  const { system, turns } = splitSystem(parseItems(items, dropped));
  const text = body.text === undefined || body.text === null ? {} : parseFields(body.text, 'text');
  const reasoning = isFields(body.reasoning) ? body.reasoning : {};
  return {
    system: [...parseInstructions(body.instructions), ...system],
    turns,
    ...parseResponsesToolChoice(body.tool_choice, tools),
    parallelCalls: parseOptionalFlag(body.parallel_tool_calls, 'parallel_tool_calls'),
    maxOutputTokens: parseOptionalCount(body.max_output_tokens, 'max_output_tokens'),
    temperature: parseOptionalNumber(body.temperature, 'temperature'),
    topP: parseOptionalNumber(body.top_p, 'top_p'),
    stop: [],
    effort: parseEffort(reasoning.effort, 'reasoning.effort'),
    format: parseFormat(text.format),
    verbosity: parseOptionalText(text.verbosity, 'text.verbosity'),
    user: parseOptionalText(body.user ?? body.safety_identifier, 'user'),
    metadata: body.metadata ?? undefined,
    serviceTier: parseOptionalText(body.service_tier, 'service_tier'),
    promptCacheKey: parseOptionalText(body.prompt_cache_key, 'prompt_cache_key'),
    isStreaming: parseOptionalFlag(body.stream, 'stream') ?? false,
  };
}

function toItems(input: unknown): readonly unknown[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  return parseList(input, 'input');
}

// Tools that were added or found in the course of the conversation are as callable as the others.
function loadedTools(items: readonly unknown[]): readonly unknown[] {
  return items.flatMap((entry) => {
    const item = toFields(entry);
    const adds = item.type === 'additional_tools' || item.type === 'tool_search_output';
    return adds ? toList(item.tools) : [];
  });
}

function parseInstructions(value: unknown): SystemTurn[] {
  const text = parseOptionalText(value, 'instructions') ?? '';
  return text === '' ? [] : [{ role: 'system', isDeveloper: false, text }];
}

function parseFormat(value: unknown): OutputFormat | undefined {
  if (value === undefined || value === null) return undefined;
  const format = parseFields(value, 'text.format');
  switch (format.type) {
    case 'text':
      return undefined;
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return {
        kind: 'schema',
        name: parseText(format.name, 'text.format.name'),
        schema: parseFields(format.schema, 'text.format.schema'),
        strict: parseOptionalFlag(format.strict, 'text.format.strict'),
        description: parseOptionalText(format.description, 'text.format.description'),
      };
    default:
      throw wrongField('text.format.type', 'text, json_object or json_schema');
  }
}
