// Doesn't use the registry of dialects: their translations would double what every `send` has to load.
import { toFields, withoutAbsent } from '../dialects/fields.ts';
import { GatewayError } from '../errors.ts';
import type { Prompt, PromptDialect, PromptField, PromptPart, PromptTurn } from './conversation.ts';

// Anthropic wants a limit on every request.
const defaultMaxTokens = 4_096;
const schemaName = 'answer';

/** The request body for a prompt in a dialect. Throws usage.invalid for what the dialect doesn't support. */
export function requestBody(dialect: PromptDialect, prompt: Prompt): Readonly<Record<string, unknown>> {
  const body = withoutAbsent(builders[dialect](prompt));
  for (const field of prompt.fields ?? []) setField(body, field);
  return body;
}

const builders: Readonly<Record<PromptDialect, (prompt: Prompt) => Record<string, unknown>>> = {
  messages: ({ model, turns, system, maxTokens, temperature, topP, stop, schema, stream }) => ({
    model,
    max_tokens: maxTokens ?? defaultMaxTokens,
    system,
    temperature,
    top_p: topP,
    stop_sequences: stop,
    output_config: schema && { format: { type: 'json_schema', schema } },
    messages: turns.map(({ role, parts }) => ({ role, content: contentOf(parts, messagesPart) })),
    stream: stream || undefined,
  }),
  chat: ({ model, turns, system, maxTokens, temperature, topP, stop, schema, stream }) => ({
    model,
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    stop,
    response_format: schema && {
      type: 'json_schema',
      json_schema: { name: schemaName, schema, ...strictness(schema) },
    },
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      ...turns.map(({ role, parts }) => ({ role, content: contentOf(parts, chatPart) })),
    ],
    stream: stream || undefined,
    stream_options: stream ? { include_usage: true } : undefined,
  }),
  responses: ({ model, turns, system, maxTokens, temperature, topP, stop, schema, stream }) => {
    if (stop !== undefined) throw noPlace('--stop', 'responses');
    return {
      model,
      max_output_tokens: maxTokens,
      temperature,
      top_p: topP,
      instructions: system,
      text: schema && { format: { type: 'json_schema', name: schemaName, schema, ...strictness(schema) } },
      input: responsesInput(turns),
      stream: stream || undefined,
    };
  },
  gemini: ({ turns, system, maxTokens, temperature, topP, stop, schema }) => {
    const generationConfig = withoutAbsent({
      maxOutputTokens: maxTokens,
      temperature,
      topP,
      stopSequences: stop,
      responseMimeType: schema && 'application/json',
      responseJsonSchema: schema,
    });
    return {
      systemInstruction: system === undefined ? undefined : { parts: [{ text: system }] },
      contents: turns.map(({ role, parts }) => ({
        role: role === 'assistant' ? 'model' : 'user',
        parts: parts.map(geminiPart),
      })),
      generationConfig: Object.keys(generationConfig).length > 0 ? generationConfig : undefined,
    };
  },
};

/** Text alone is sent as a string: some hosts refuse a list of one part. */
function contentOf(parts: readonly PromptPart[], toBlock: (part: PromptPart) => object): string | object[] {
  const [first] = parts;
  return parts.length === 1 && first?.kind === 'text' ? first.text : parts.map(toBlock);
}

function messagesPart(part: PromptPart): object {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image', source: { type: 'base64', media_type: part.mediaType, data: part.data } };
    case 'pdf': {
      const source = { type: 'base64', media_type: 'application/pdf', data: part.data };
      return { type: 'document', title: part.name, source };
    }
    case 'audio':
      throw noPlace('audio', 'messages');
  }
}

function chatPart(part: PromptPart): object {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: dataUrl(part.mediaType, part.data) } };
    case 'pdf':
      return {
        type: 'file',
        file: { filename: part.name, file_data: dataUrl('application/pdf', part.data) },
      };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
  }
}

function responsesInput(turns: readonly PromptTurn[]): string | object[] {
  const [only] = turns;
  const content = only && contentOf(only.parts, responsesPart);
  if (turns.length === 1 && typeof content === 'string') return content;
  return turns.map(({ role, parts }) => ({ role, content: contentOf(parts, responsesPart) }));
}

function responsesPart(part: PromptPart): object {
  switch (part.kind) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image':
      return { type: 'input_image', image_url: dataUrl(part.mediaType, part.data) };
    case 'pdf': {
      const fileData = dataUrl('application/pdf', part.data);
      return { type: 'input_file', filename: part.name, file_data: fileData };
    }
    case 'audio':
      throw noPlace('audio', 'responses');
  }
}

function geminiPart(part: PromptPart): object {
  switch (part.kind) {
    case 'text':
      return { text: part.text };
    case 'image':
      return { inlineData: { mimeType: part.mediaType, data: part.data } };
    case 'pdf':
      return { inlineData: { mimeType: 'application/pdf', data: part.data } };
    case 'audio':
      return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } };
  }
}

function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}

function noPlace(what: string, dialect: PromptDialect): GatewayError {
  const message = `the ${dialect} dialect has no place for ${what}; try --dialect chat`;
  return new GatewayError('usage.invalid', message);
}

/** OpenAI's hosts enforce a schema only if `strict` is set, and refuse it for schemas that leave anything open. */
function strictness(schema: unknown): { strict?: true } {
  return isClosed(schema) ? { strict: true } : {};
}

function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isClosed);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties } = toFields(schema);
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  const names = Object.keys(toFields(properties));
  const isComplete = Array.isArray(required) && names.every((name) => required.includes(name));
  if (isObject && !(additionalProperties === false && isComplete)) return false;
  return Object.values(schema).every(isClosed);
}

function setField(body: Record<string, unknown>, { path, value }: PromptField): void {
  let at = body;
  for (const step of path.slice(0, -1)) {
    if (!Object.hasOwn(at, step)) at[step] = {};
    const next = at[step];
    if (typeof next !== 'object' || next === null || Array.isArray(next)) throw isTaken(path);
    at = next as Record<string, unknown>; // neither null nor a list, see above
  }
  const last = path.at(-1) ?? '';
  if (Object.hasOwn(at, last)) throw isTaken(path);
  at[last] = value;
}

function isTaken(path: readonly string[]): GatewayError {
  const name = path.join('.');
  return new GatewayError(
    'usage.invalid',
    `--set ${name}: the request has this already; it has its own option`,
  );
}
