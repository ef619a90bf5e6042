import type { Change, Parameters } from '../../config/build/parameters.ts';
import { memberAt } from '../../dialects/dialect.ts';
import { applyEdits, type ByteEdit, membersEdit, removals, valueEdit } from '../../json/byte-edits.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';

/** A body with its changes, and the paths of the members that differ; the same body if none does. */
export interface Adjusted {
  readonly body: Buffer;
  readonly changed: readonly string[];
}

/** Sets, defaults and removes members of a body, in whichever spelling they stand there; all of its other bytes stay. */
export function adjust(body: Buffer, parameters: Parameters): Adjusted {
  const document = parseStrictJson(body);
  const made: Made = { edits: [], changed: [] };
  visit(document, [document.root], { members: inEffect(document, parameters), at: '' }, made);
  return { body: made.edits.length === 0 ? body : applyEdits(body, made.edits), changed: made.changed };
}

/** Without the defaults of what the client sent by another name. */
function inEffect(document: JsonDocument, members: Parameters): Parameters {
  return members.flatMap(([spellings, change]): Parameters => {
    if (change.kind === 'inside')
      return [[spellings, { ...change, members: inEffect(document, change.members) }]];
    const others = change.kind === 'default' ? (change.others ?? []) : [];
    return others.some((path) => isSent(document, memberAt(document, path))) ? [] : [[spellings, change]];
  });
}

function isSent(document: JsonDocument, entry: number | undefined): entry is number {
  return entry !== undefined && document.kind(entry) !== kinds.null;
}

interface Made {
  readonly edits: ByteEdit[];
  readonly changed: string[];
}

interface Inside {
  readonly members: Parameters;
  /** The path of the object, with a dot at its end; empty for the body itself. */
  readonly at: string;
}

/** The objects are the same one in several spellings, in most bodies one. */
function visit(
  document: JsonDocument,
  objects: readonly [number, ...number[]],
  { members, at }: Inside,
  made: Made,
): void {
  const cut = new Set<number>();
  const added: { readonly name: string; readonly value: string }[] = [];
  for (const [spellings, change] of members) {
    const [name] = spellings;
    const path = at + name;
    const found = objects.flatMap((object) =>
      spellings.flatMap((spelling) => document.member(object, spelling) ?? []),
    );
    const [first, ...others] = found.filter((entry) => document.kind(entry) === kinds.object);
    if (change.kind === 'inside' && first !== undefined) {
      visit(document, [first, ...others], { members: change.members, at: `${path}.` }, made);
      continue;
    }
    if (change.kind === 'remove') {
      for (const entry of found) cut.add(entry);
      if (found.length > 0) made.changed.push(path);
      continue;
    }
    const sent = found.filter((entry) => isSent(document, entry));
    const value = sent.length > 0 && !sets(change) ? undefined : toJson(change, found.length > 0);
    if (value === undefined) continue;
    const replaced = sent.length > 0 ? sent : found.slice(0, 1);
    const edits = replaced
      .map((entry) => valueEdit(document, entry, value))
      .filter(({ start, end }) => document.bytes.toString('utf8', start, end) !== value);
    if (found.length === 0) added.push({ name, value });
    else if (edits.length === 0) continue;
    made.edits.push(...edits);
    made.changed.push(...leavesOf(change, path));
  }
  made.edits.push(...membersEdit(document, objects[0], added, cut));
  if (cut.size === 0) return;
  for (const object of objects) made.edits.push(...removals(document, object, (key) => cut.has(key + 1)));
}

/** Whether something in it holds whatever the client sent. */
function sets(change: Change): boolean {
  return (
    change.kind === 'set' || (change.kind === 'inside' && change.members.some(([, inner]) => sets(inner)))
  );
}

/** As JSON, for a member that is there or not; undefined if nothing is to be there. */
function toJson(change: Change, isThere: boolean): string | undefined {
  if (change.kind === 'remove') return undefined;
  if (change.kind === 'set' && change.isOnlyHeld === true && !isThere) return undefined;
  if (change.kind !== 'inside') return change.json;
  const members = change.members.flatMap(([[name], inner]) => {
    const value = toJson(inner, false);
    return value === undefined ? [] : [`${JSON.stringify(name)}:${value}`];
  });
  return members.length === 0 ? undefined : `{${members.join(',')}}`;
}

function leavesOf(change: Change, path: string): readonly string[] {
  if (change.kind !== 'inside') return [path];
  return change.members.flatMap(([[name], inner]) =>
    toJson(inner, false) === undefined ? [] : leavesOf(inner, `${path}.${name}`),
  );
}
