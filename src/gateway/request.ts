import { type Dialect, fieldsWith, memberAt, requestsIn } from '../dialects/dialect.ts';
import { shownPlace } from '../dialects/place-names.ts';
import { GatewayError } from '../errors.ts';
import { exactInteger, type JsonDocument, kinds } from '../json/json-document.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import type { Checkpoint } from '../policy/checkpoint.ts';
import type { ModelEndpoint } from './endpoints.ts';
import type { Demand } from './spending/demand.ts';

/** The few fields of a request that the gateway itself acts on. */
export interface RequestFields {
  readonly model: string;
  /** The entries of strings that end with the model's name, so that only its bytes are replaced if the target has another. */
  readonly modelEntries: readonly number[];
  readonly stream: boolean;
}

/** A strictly parsed model request. */
export interface ModelRequest extends RequestFields {
  readonly document: JsonDocument;
  /** Found by the decision thread for a large body; absent otherwise. */
  readonly demand?: Demand | undefined;
  /** The same: what it asks for that costs other than the known prices (`findAskedModes`). */
  readonly askedModes?: readonly string[] | undefined;
  /** The same: whether it may have what the gateway has sealed in an earlier answer. */
  readonly mayHaveSeals?: boolean | undefined;
  /** The largest cap on output that no rule objects to; absent if there is none. */
  readonly capLimit?: number | undefined;
}

interface ParseOptions {
  readonly pathModel?: string | undefined;
  /** Where it may be given up. */
  readonly checkpoint?: Checkpoint | undefined;
}

/**
 * Parses a body strictly and checks the fields that the gateway reads; the model may be in the path. An error's place has
 * no keys but the dialects' own.
 */
export function parseRequest(
  body: Buffer,
  { dialect, call }: ModelEndpoint,
  { pathModel, checkpoint }: ParseOptions = {},
): ModelRequest {
  try {
    return parse(body, { dialect, call }, { pathModel, checkpoint });
  } catch (error) {
    if (!(error instanceof GatewayError) || error.param === undefined) throw error;
    const { code, message, param } = error;
    throw new GatewayError(code, message, { param: shownPlace(param), cause: error.cause });
  }
}

function parse(
  body: Buffer,
  { dialect, call }: Pick<ModelEndpoint, 'dialect' | 'call'>,
  { pathModel, checkpoint }: ParseOptions,
): ModelRequest {
  const document = parseStrictJson(body, checkpoint);
  const isInPath = pathModel !== undefined;
  const caller = { model: pathModel, stream: isInPath ? call.stream : ('asked' as const) };
  const { model, modelEntries, stream } = readFields(document, dialect, caller);
  if (stream && call.stream === false) {
    throw new GatewayError('request.field', 'there is nothing to stream here: leave stream out', {
      param: '/stream',
    });
  }
  return { document, model, modelEntries, stream };
}

/** Desktop programs serve models under names with blanks, `#` or `(high)`; Claude Code writes `[1m]` behind them. */
const modelPattern = /^(?! )[A-Za-z0-9._:/@+#()[\] -]{1,200}(?<! )$/;

/** How a request came: what is not in its body. */
export interface PathCaller {
  /** From the path, where it is. */
  readonly model?: string | undefined;
  readonly stream: boolean | 'asked';
}

const inBody: PathCaller = { stream: 'asked' };

/**
 * Reads and checks these fields: each must have its type, and no other key may be taken for one by another reader
 * (`"Model"`). Throws request.field with the JSON pointer.
 */
export function readFields(
  document: JsonDocument,
  dialect: Dialect,
  { model: pathModel, stream }: PathCaller = inBody,
): RequestFields {
  checkNames(document, dialect);
  const { model, modelEntries } =
    pathModel === undefined ? readModel(document) : repeats(document, dialect, pathModel);
  if (!modelPattern.test(model)) {
    throw wrong(
      '/model',
      'model must be 1 to 200 characters of A-Z a-z 0-9 . _ : / @ + - # ( ) [ ] and blanks inside',
    );
  }
  for (const name of dialect.required)
    if (!isInAny(document, requestsIn(document, dialect), name))
      throw wrong(`/${name}`, `${name} is missing`);
  for (const name of dialect.caps) checkCap(document, name, dialect);
  refuseLater(document, dialect);
  return { model, modelEntries, stream: stream === 'asked' ? readStream(document) : stream };
}

function isInAny(document: JsonDocument, requests: readonly number[], name: string): boolean {
  for (const request of requests) if (document.member(request, name) !== undefined) return true;
  return false;
}

type NamedModel = Pick<RequestFields, 'model' | 'modelEntries'>;

function readModel(document: JsonDocument): NamedModel {
  const entry = document.member(document.root, 'model');
  if (entry === undefined) throw wrong('/model', 'model is missing: name the model to use');
  if (document.kind(entry) !== kinds.string) throw wrong('/model', 'model must be a string');
  return { model: document.text(entry), modelEntries: [entry] };
}

/** A body may name the model of its path again, as `models/NAME`, also in each request of a batch; never another one. */
function repeats(document: JsonDocument, dialect: Dialect, model: string): NamedModel {
  const modelEntries: number[] = [];
  const add = (object: number) => {
    const entry = document.member(object, 'model');
    if (entry === undefined) return;
    const name = document.kind(entry) === kinds.string ? document.text(entry) : '';
    if (name !== model && name !== `models/${model}`) {
      throw wrong(document.pointer(entry), 'the path names another model: leave this one out');
    }
    modelEntries.push(entry);
  };
  requestsIn(document, dialect).forEach(add);
  const batch = document.member(document.root, 'requests');
  if (batch !== undefined) for (const request of document.elements(batch)) add(request);
  return { model, modelEntries };
}

function readStream(document: JsonDocument): boolean {
  const entry = document.member(document.root, 'stream');
  if (entry === undefined) return false;
  const kind = document.kind(entry);
  if (kind === kinds.true) return true;
  // Several SDKs write null for an option that was not set.
  if (kind === kinds.false || kind === kinds.null) return false;
  throw wrong('/stream', 'stream must be true or false');
}

/** -1 says "no limit" to LM Studio and llama.cpp; limits and rules read it so too. */
function checkCap(document: JsonDocument, name: string, { needsCap }: Dialect): void {
  const entry = memberAt(document, name);
  if (entry === undefined || document.kind(entry) === kinds.null) return;
  const tokens = document.kind(entry) === kinds.number ? exactInteger(document.raw(entry)) : undefined;
  if (tokens === -1 && needsCap !== true) return;
  if (tokens === undefined || tokens < 0) {
    throw wrong(
      `/${name.replaceAll('.', '/')}`,
      `${name} must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`,
    );
  }
}

/** The gateway has no path where an answer could be fetched, so it would be paid for and lost. */
function refuseLater(document: JsonDocument, { laterField: name }: Dialect): void {
  const entry = name === undefined ? undefined : document.member(document.root, name);
  if (entry === undefined || document.kind(entry) !== kinds.true) return;
  const message = `${name}: answers can't be fetched later through the gateway; leave it out`;
  throw new GatewayError('request.unsupported', message, { param: `/${name}` });
}

function checkNames(document: JsonDocument, dialect: Dialect): void {
  for (const request of requestsIn(document, dialect)) {
    checkKeys(document, request, dialect, isRead);
    for (const name of fieldsWith(dialect, 'turns')) {
      const turns = document.member(request, name);
      if (turns !== undefined) checkTurns(document, turns, dialect);
    }
  }
}

/** Turns and their content blocks: their keys decide the roles of texts, which policies match on. */
function checkTurns(document: JsonDocument, turns: number, dialect: Dialect): void {
  if (document.kind(turns) !== kinds.array) return;
  for (let turn = turns + 1; turn < document.next(turns); turn = document.next(turn)) {
    checkKeys(document, turn, dialect, isReadInTurn);
    const content = document.member(turn, blockListOf(dialect));
    if (content === undefined || document.kind(content) !== kinds.array) continue;
    for (let block = content + 1; block < document.next(content); block = document.next(block)) {
      checkKeys(document, block, dialect, isReadInTurn);
    }
  }
}

function blockListOf({ blockList = 'content' }: Dialect): string {
  return blockList;
}

function isReadInTurn(name: string, dialect: Dialect): boolean {
  return name === 'role' || name === 'type' || name === blockListOf(dialect);
}

function checkKeys(
  document: JsonDocument,
  object: number,
  dialect: Dialect,
  isReadHere: (name: string, dialect: Dialect) => boolean,
): void {
  if (document.kind(object) !== kinds.object) return;
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) {
    if (isLowerCase(document, key)) continue;
    const name = document.text(key);
    const folded = foldCase(name);
    if (isReadHere(name, dialect) || !isReadHere(folded, dialect)) continue;
    throw wrong(document.pointer(key), `this key differs from ${folded} only in case; write ${folded}`);
  }
}

/** Whether a key certainly equals its folded form, as nearly all do; such keys need not be decoded. */
function isLowerCase(document: JsonDocument, key: number): boolean {
  if (document.isEscaped(key) || document.isWide(key)) return false;
  for (let at = document.start(key); at < document.end(key); at += 1) {
    const byte = document.bytes[at] as number;
    if (byte >= 0x41 && byte <= 0x5a) return false;
  }
  return true;
}

function isRead(name: string, dialect: Dialect): boolean {
  const isCap = dialect.caps.some((cap) => cap === name || cap.startsWith(`${name}.`));
  return name === 'model' || name === 'stream' || isCap || dialect.places.has(name);
}

/** Both ways, because some letters (ſ, K) only meet their ASCII twin in one of them. */
function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('request.field', message, { param });
}
