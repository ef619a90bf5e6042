import type {
  AnswerFormat,
  ContentPart,
  ConversationRequest,
  Tool,
  ToolChoice,
  ToolName,
} from '../conversation.ts';
import {
  type Fields,
  parseEach,
  parseFields,
  parseOptionalFlag,
  parseOptionalNumber,
  parseOptionalText,
  parseText,
  wrongField,
} from '../fields.ts';
import { keptElsewhere, parseDataUrl } from './media.ts';
import type { ToolNames } from './tool-names.ts';

// What the requests of OpenAI's two dialects have in common. Chat nests some of it one level deeper.

/** The options that have the same name and meaning in both. */
export function parseOpenAiOptions(body: Fields) {
  return {
    parallelCalls: parseOptionalFlag(body.parallel_tool_calls, 'parallel_tool_calls'),
    temperature: parseOptionalNumber(body.temperature, 'temperature'),
    topP: parseOptionalNumber(body.top_p, 'top_p'),
    user: parseOptionalText(body.user ?? body.safety_identifier, 'user'),
    metadata: body.metadata ?? undefined,
    serviceTier: parseOptionalText(body.service_tier, 'service_tier'),
    promptCacheKey: parseOptionalText(body.prompt_cache_key, 'prompt_cache_key'),
    isStreaming: parseOptionalFlag(body.stream, 'stream') ?? false,
  };
}

/** A format of the answer; `schemaOf` finds what describes a schema, and says where. */
export function parseOpenAiFormat(
  value: unknown,
  path: string,
  schemaOf: (format: Fields) => readonly [Fields, string],
): AnswerFormat | undefined {
  if (value === undefined || value === null) return undefined;
  const format = parseFields(value, path);
  switch (format.type) {
    case 'text':
      return undefined;
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema': {
      const [fields, place] = schemaOf(format);
      return {
        kind: 'schema',
        name: parseText(fields.name, `${place}.name`),
        schema: parseFields(fields.schema, `${place}.schema`),
        strict: parseOptionalFlag(fields.strict, `${place}.strict`),
        description: parseOptionalText(fields.description, `${place}.description`),
      };
    }
    default:
      throw wrongField(`${path}.type`, 'text, json_object or json_schema');
  }
}

/** A file with its content inside, at `place`; `path` is the part that holds it. */
export function parseOpenAiFile(file: Fields, place: string, path: string): ContentPart {
  const name = parseOptionalText(file.filename, `${place}.filename`);
  const data = parseOptionalText(file.file_data, `${place}.file_data`);
  if (data === undefined) throw keptElsewhere(path);
  // Some clients leave out the beginning of the data URL; it is usually PDF.
  const source = parseDataUrl(data) ?? { kind: 'base64', mediaType: 'application/pdf', data };
  return { kind: 'document', source, name, path };
}

/** A tool that the client runs. */
export function parseOpenAiTool(kind: Tool['kind'], tool: Fields, path: string, namespace?: string): Tool {
  const common = {
    name: parseText(tool.name, `${path}.name`),
    namespace,
    description: parseOptionalText(tool.description, `${path}.description`),
  };
  if (kind === 'custom') return { kind, ...common, format: tool.format ?? undefined };
  return {
    kind,
    ...common,
    parameters: parseFields(tool.parameters ?? {}, `${path}.parameters`),
    strict: parseOptionalFlag(tool.strict, `${path}.strict`),
  };
}

interface ChosenTools {
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
}

/** How a dialect writes the choice of a tool. */
interface ChoiceReader {
  readonly chosen: (choice: Fields, path: string) => ToolName;
  /** What holds the mode and the list of allowed tools. */
  readonly allowed: (choice: Fields) => readonly [Fields, string];
  readonly nameOf: (entry: Fields, path: string) => unknown;
  /** The error for a choice of any other kind. */
  readonly unknown: () => Error;
}

/** The choice, and the tools that it leaves: a list of allowed tools removes all others. */
export function parseOpenAiToolChoice(
  value: unknown,
  tools: readonly Tool[],
  reader: ChoiceReader,
): ChosenTools {
  if (value === undefined || value === null) return { tools };
  if (value === 'auto' || value === 'required' || value === 'none') {
    return { tools, toolChoice: { kind: value } };
  }
  const choice = parseFields(value, 'tool_choice');
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { tools, toolChoice: { kind: 'tool', tool: reader.chosen(choice, 'tool_choice') } };
    case 'allowed_tools': {
      const [allowed, path] = reader.allowed(choice);
      const names = new Set(parseEach(allowed.tools, `${path}.tools`, reader.nameOf));
      const kind = allowed.mode === 'required' ? 'required' : 'auto';
      return { tools: tools.filter((tool) => names.has(tool.name)), toolChoice: { kind } };
    }
    default:
      throw reader.unknown();
  }
}

/** The tools of a request that is built, with what goes with them; nothing without tools. */
export function buildOpenAiTools(
  { tools, toolChoice, parallelCalls }: ConversationRequest,
  names: ToolNames,
  build: {
    readonly tool: (tool: Tool, names: ToolNames) => Fields;
    readonly chosen: (tool: ToolName, names: ToolNames) => Fields;
  },
): Fields {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => build.tool(tool, names)),
    tool_choice: toolChoice?.kind === 'tool' ? build.chosen(toolChoice.tool, names) : toolChoice?.kind,
    parallel_tool_calls: parallelCalls,
  };
}
