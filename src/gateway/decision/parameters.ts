import type { Change, Parameters } from '../../config/build/parameters.ts';
import { applyEdits, type ByteEdit, membersEdit, removals, valueEdit } from '../../json/byte-edits.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';

/** A body with its changes, and the paths of the members that differ; the same body if none does. */
export interface Adjusted {
  readonly body: Buffer;
  readonly changed: readonly string[];
}

/** Sets, defaults and removes members of a body; all of its other bytes stay. */
export function adjust(body: Buffer, parameters: Parameters): Adjusted {
  const document = parseStrictJson(body);
  const made: Made = { edits: [], changed: [] };
  visit(document, document.root, { members: parameters, at: '' }, made);
  return { body: made.edits.length === 0 ? body : applyEdits(body, made.edits), changed: made.changed };
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

function visit(document: JsonDocument, object: number, { members, at }: Inside, made: Made): void {
  const cut = new Set<number>();
  const added: { readonly name: string; readonly value: string }[] = [];
  for (const [name, change] of members) {
    const path = at + name;
    const entry = document.member(object, name);
    if (change.kind === 'inside' && entry !== undefined && document.kind(entry) === kinds.object) {
      visit(document, entry, { members: change.members, at: `${path}.` }, made);
      continue;
    }
    if (change.kind === 'remove') {
      if (entry === undefined) continue;
      cut.add(entry);
      made.changed.push(path);
      continue;
    }
    const isSent = entry !== undefined && document.kind(entry) !== kinds.null;
    const value = isSent && !sets(change) ? undefined : toJson(change);
    if (value === undefined) continue;
    if (entry === undefined) added.push({ name, value });
    else {
      const edit = valueEdit(document, entry, value);
      if (document.bytes.toString('utf8', edit.start, edit.end) === value) continue;
      made.edits.push(edit);
    }
    made.changed.push(...leavesOf(change, path));
  }
  made.edits.push(...membersEdit(document, object, added, cut));
  if (cut.size > 0) made.edits.push(...removals(document, object, (key) => cut.has(key + 1)));
}

/** Whether something in it holds whatever the client sent. */
function sets(change: Change): boolean {
  return (
    change.kind === 'set' || (change.kind === 'inside' && change.members.some(([, inner]) => sets(inner)))
  );
}

/** As JSON, for a member that is not there; undefined if nothing is to be there. */
function toJson(change: Change): string | undefined {
  if (change.kind === 'remove') return undefined;
  if (change.kind !== 'inside') return change.json;
  const members = change.members.flatMap(([name, inner]) => {
    const value = toJson(inner);
    return value === undefined ? [] : [`${JSON.stringify(name)}:${value}`];
  });
  return members.length === 0 ? undefined : `{${members.join(',')}}`;
}

function leavesOf(change: Change, path: string): readonly string[] {
  if (change.kind !== 'inside') return change.kind === 'remove' ? [] : [path];
  return change.members.flatMap(([name, inner]) => leavesOf(inner, `${path}.${name}`));
}
