import { GatewayError } from '../errors.ts';
import { exactInteger } from '../json/exact-integer.ts';
import { type JsonDocument, kinds } from '../json/json-document.ts';
import { type Dialect, fieldOf } from './dialect.ts';

/** The few fields of a request that the gateway itself acts on. */
export interface RequestFields {
  readonly model: string;
  /** The entry of the model's string, so that only its bytes are replaced if the target has another name for it. */
  readonly modelEntry: number;
  readonly stream: boolean;
}

const modelPattern = /^[A-Za-z0-9._:/@+-]{1,200}$/;

/**
 * Reads and checks these fields: each must have its type, and no other key may be taken for one by another reader
 * (`"Model"`). Throws request.field with the JSON pointer.
 */
export function readFields(document: JsonDocument, dialect: Dialect): RequestFields {
  checkNames(document, dialect);
  const modelEntry = document.member(document.root, 'model');
  if (modelEntry === undefined) throw wrong('/model', 'model is missing: name the model to use');
  if (document.kind(modelEntry) !== kinds.string) throw wrong('/model', 'model must be a string');
  const model = document.text(modelEntry);
  if (!modelPattern.test(model)) {
    throw wrong('/model', 'model must be 1 to 200 characters of A-Z a-z 0-9 . _ : / @ + -');
  }
  for (const name of dialect.required) {
    if (document.member(document.root, name) === undefined) throw wrong(`/${name}`, `${name} is missing`);
  }
  for (const name of dialect.caps) checkCap(document, name);
  return { model, modelEntry, stream: readStream(document) };
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

function checkCap(document: JsonDocument, name: string): void {
  const entry = document.member(document.root, name);
  if (entry === undefined || document.kind(entry) === kinds.null) return;
  const tokens = document.kind(entry) === kinds.number ? exactInteger(document.raw(entry)) : undefined;
  if (tokens === undefined || tokens < 0) {
    throw wrong(`/${name}`, `${name} must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`);
  }
}

function checkNames(document: JsonDocument, dialect: Dialect): void {
  checkKeys(document, document.root, (name) => isRead(name, dialect));
  const turns = fieldOf(document, dialect, 'turns');
  if (turns !== undefined) checkTurns(document, turns);
}

/** Turns and their content blocks: their keys decide the roles of texts, which policies match on. */
function checkTurns(document: JsonDocument, turns: number): void {
  if (document.kind(turns) !== kinds.array) return;
  for (let turn = turns + 1; turn < document.next(turns); turn = document.next(turn)) {
    checkKeys(document, turn, isReadInTurn);
    const content = document.member(turn, 'content');
    if (content === undefined || document.kind(content) !== kinds.array) continue;
    for (let block = content + 1; block < document.next(content); block = document.next(block)) {
      checkKeys(document, block, isReadInTurn);
    }
  }
}

function checkKeys(document: JsonDocument, object: number, isReadHere: (name: string) => boolean): void {
  if (document.kind(object) !== kinds.object) return;
  for (let key = object + 1; key < document.next(object); key = document.next(key + 1)) {
    if (isLowerCase(document, key)) continue;
    const name = document.text(key);
    const folded = foldCase(name);
    if (isReadHere(name) || !isReadHere(folded)) continue;
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
  return name === 'model' || name === 'stream' || dialect.caps.includes(name) || dialect.places.has(name);
}

function isReadInTurn(name: string): boolean {
  return name === 'role' || name === 'type' || name === 'content';
}

/** Both ways, because some letters (ſ, K) only meet their ASCII twin in one of them. */
function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('request.field', message, { param });
}
