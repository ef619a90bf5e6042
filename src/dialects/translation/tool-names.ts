import { createHash } from 'node:crypto';
import type { ToolName } from '../conversation.ts';

const nameLimit = 64;
const separator = '__';

/** Tools by their names at the provider. */
export type WireNames = ReadonlyMap<string, ToolName>;

export interface ToolNames {
  /** The tool's name at the provider; the first tool that gets a name keeps it. */
  toWire(tool: ToolName): string;
  /** What the client calls the tool of this wire name; an unknown name is a function of that name. */
  fromWire(wireName: string): ToolName;
  /** Those that `fromWire` would not know without having seen them. */
  renamed(): WireNames;
}

/**
 * Flattens namespaces and shortens names to what every provider takes (64 of `a-zA-Z0-9_-`), reversibly.
 * The short form depends on the name alone, so prompts stay the same from turn to turn.
 */
export function createToolNames(known: WireNames = new Map()): ToolNames {
  const originals = new Map(known);

  function toWire(tool: ToolName): string {
    const flat = tool.namespace === undefined ? tool.name : `${tool.namespace}${separator}${tool.name}`;
    const plain = toAllowed(flat);
    const wireName = plain === flat && isFree(plain, tool) ? plain : shorten(plain, tool);
    if (!originals.has(wireName)) {
      originals.set(wireName, { name: tool.name, namespace: tool.namespace, kind: tool.kind });
    }
    return wireName;
  }

  function isFree(wireName: string, tool: ToolName): boolean {
    const taken = originals.get(wireName);
    return taken === undefined || (taken.name === tool.name && taken.namespace === tool.namespace);
  }

  return {
    toWire,
    fromWire: (wireName) => originals.get(wireName) ?? { name: wireName, kind: 'function' },
    renamed: () =>
      new Map(
        [...originals].filter(([wireName, { name, kind }]) => name !== wireName || kind !== 'function'),
      ),
  };
}

function toAllowed(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, nameLimit);
}

function shorten(name: string, tool: ToolName): string {
  const whole = `${tool.namespace ?? ''}\n${tool.name}`;
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `${name.slice(0, nameLimit - digest.length - 1)}_${digest}`;
}

/** Anthropic accepts only these characters in a call's id; others are written as hex, so that ids stay distinct. */
export function toCallId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, (character) => character.charCodeAt(0).toString(16));
}
