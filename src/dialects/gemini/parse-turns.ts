import {
  type AnswerPart,
  addText,
  type ContentPart,
  callsOf,
  type Thought,
  type ToolCall,
  type ToolResult,
  type Turn,
} from '../conversation.ts';
import {
  type Dropped,
  type Fields,
  isFields,
  noteDropped,
  parseEach,
  parseFields,
  parseOptionalText,
  parseText,
  toText,
  unsupported,
  wrongField,
} from '../fields.ts';
import { keptElsewhere, paragraphs, textParts, toMediaType } from '../translation/media.ts';
import { bytesSlot, isOurSeal, parseSeal } from '../translation/seals.ts';

/** The turns of a Gemini request, with its members in camelCase. */
export function parseGeminiTurns(contents: unknown, dropped: Dropped): Turn[] {
  let open = new OpenCalls([]);
  let calls = 0;

  function parseModel(parts: readonly Placed[]): Turn {
    const said: AnswerPart[] = [];
    let isInThought = false;
    for (const { part, path } of parts) {
      const signature = bytesSlot.read(toText(part.thoughtSignature));
      const seal = parseSeal(signature);
      if (part.thought === true) {
        const isOthers = signature !== '' && !isOurSeal(signature);
        if (isOthers) noteDropped(dropped, `${path}.thought`);
        else addThought(said, { kind: 'thinking', text: toText(part.text), seal }, isInThought);
      } else if (part.functionCall !== undefined) {
        const call = parseFields(part.functionCall, `${path}.functionCall`);
        calls += 1;
        said.push({
          kind: 'call',
          call: {
            kind: 'function',
            id: parseOptionalText(call.id, `${path}.functionCall.id`) ?? `call_${calls}`,
            name: parseText(call.name, `${path}.functionCall.name`),
            input: JSON.stringify(parseFields(call.args ?? {}, `${path}.functionCall.args`)),
            seal,
          },
        });
      } else if (typeof part.text === 'string') addText(said, part.text);
      else if (ownTools.some((name) => part[name] !== undefined))
        noteDropped(dropped, `${path}.executableCode`);
      else throw unsupported(path, 'only text and function calls can be translated in a turn of the model');
      isInThought = part.thought === true;
    }
    open = new OpenCalls(callsOf(said));
    return { role: 'assistant', parts: said };
  }

  function parseUser(parts: readonly Placed[]): Turn[] {
    const results: ToolResult[] = [];
    const others: ContentPart[] = [];
    for (const { part, path } of parts) {
      if (part.functionResponse === undefined) others.push(...parsePart(part, path));
      else results.push(parseResult(parseFields(part.functionResponse, `${path}.functionResponse`), path));
    }
    const turns: Turn[] = results.length > 0 ? [{ role: 'results', results }] : [];
    if (others.length > 0) turns.push({ role: 'user', parts: others });
    return turns;
  }

  function parseResult({ id, name, response, parts = [] }: Fields, path: string): ToolResult {
    const place = `${path}.functionResponse`;
    const own = parseOptionalText(id, `${place}.id`);
    const call = open.take(own, name);
    const { text, isError } = toResultText(response);
    const media = parseEach(parts, `${place}.parts`, parsePart).flat();
    return { callId: call?.id ?? own ?? '', parts: [...textParts(text), ...media], isError, path };
  }

  return parseEach(contents, 'contents', ({ role = 'user', parts }, path): Turn[] => {
    const placed = parsePlaced(parts, path);
    switch (role) {
      case 'user':
      case 'function':
        return parseUser(placed);
      case 'model':
        return [parseModel(placed)];
      default:
        throw wrongField(`${path}.role`, 'user or model');
    }
  }).flat();
}

/** A stream brings a thought in parts, the last with its seal; clients send them back as they came. */
function addThought(parts: AnswerPart[], thought: Thought, goesOn: boolean): void {
  const last = goesOn ? parts.at(-1) : undefined;
  if (last?.kind !== 'thinking' || last.seal !== undefined) parts.push(thought);
  else parts[parts.length - 1] = { ...thought, text: last.text + thought.text };
}

/** The calls of a turn that wait for their responses, each found without going through the others. */
class OpenCalls {
  readonly #byId = new Map<string, ToolCall[]>();
  readonly #byName = new Map<string, ToolCall[]>();
  readonly #answered = new Set<ToolCall>();

  constructor(calls: readonly ToolCall[]) {
    // The first one is found last in its list, where it can be taken without moving the rest.
    for (const call of calls.toReversed()) {
      append(this.#byId, call.id, call);
      append(this.#byName, call.name, call);
    }
  }

  /** The call of a response: by its id if it has one, else the first of its name. */
  take(id: string | undefined, name: unknown): ToolCall | undefined {
    const byName = typeof name === 'string' ? this.#byName.get(name) : undefined;
    const calls = id === undefined ? byName : this.#byId.get(id);
    let call = calls?.pop();
    while (call !== undefined && this.#answered.has(call)) call = calls?.pop();
    if (call !== undefined) this.#answered.add(call);
    return call;
  }
}

function append(lists: Map<string, ToolCall[]>, key: string, call: ToolCall): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [call]);
  else list.push(call);
}

/** Parts in which the provider's own tools are called and answer; the model's text says what came of them. */
const ownTools = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'];

/** All texts of a system instruction, which may be one text, blank lines between them. */
export function parseSystemText(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  const placed = parsePlaced(parseFields(value, path).parts, path);
  return paragraphs(placed.map(({ part, path: place }) => parseText(part.text, `${place}.text`)));
}

interface Placed {
  readonly part: Fields;
  readonly path: string;
}

function parsePlaced(parts: unknown, path: string): readonly Placed[] {
  return parseEach(parts ?? [], `${path}.parts`, (part, place) => ({ part, path: place }));
}

function parsePart(part: Fields, path: string): ContentPart[] {
  if (part.inlineData !== undefined)
    return [parseBlob(parseFields(part.inlineData, `${path}.inlineData`), path)];
  if (part.fileData !== undefined) return [parseFile(parseFields(part.fileData, `${path}.fileData`), path)];
  if (part.text === undefined) throw unsupported(path, 'only text, inline data and files can be translated');
  return textParts(parseText(part.text, `${path}.text`));
}

function parseBlob({ mimeType, data, displayName }: Fields, path: string): ContentPart {
  const mediaType = toMediaType(parseText(mimeType, `${path}.inlineData.mimeType`));
  const source = { kind: 'base64', mediaType, data: parseText(data, `${path}.inlineData.data`) } as const;
  if (mediaType.startsWith('image/')) return { kind: 'image', source, path };
  if (!/^(?:application\/pdf$|text\/)/.test(mediaType)) {
    throw unsupported(path, 'only images, PDF and plain text can be translated');
  }
  return {
    kind: 'document',
    source,
    name: parseOptionalText(displayName, `${path}.inlineData.displayName`),
    path,
  };
}

/** Google's own files are names under its address, which no other provider can read. */
const kept = /^(?:gs:|files\/|https:\/\/generativelanguage\.googleapis\.com\/|https:\/\/(?:www\.)?youtu)/;

function parseFile({ mimeType, fileUri }: Fields, path: string): ContentPart {
  const url = parseText(fileUri, `${path}.fileData.fileUri`);
  if (kept.test(url)) throw keptElsewhere(path);
  const source = { kind: 'url', url } as const;
  const isImage = parseOptionalText(mimeType, `${path}.fileData.mimeType`)?.startsWith('image/') === true;
  return isImage ? { kind: 'image', source, path } : { kind: 'document', source, path };
}

/** Google advises `output` and `error`; any other object is the result as a whole. */
function toResultText(response: unknown): { text: string; isError: boolean } {
  if (!isFields(response)) return { text: '', isError: false };
  const [[name = '', value] = [], ...others] = Object.entries(response);
  const isOnly = others.length === 0 && typeof value === 'string';
  if (isOnly && name === 'error') return { text: value, isError: true };
  return { text: isOnly && name === 'output' ? value : JSON.stringify(response), isError: false };
}
