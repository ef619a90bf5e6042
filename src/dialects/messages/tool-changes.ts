import { type Fields, isFields, toFields, toList, toText } from '../fields.ts';

/** What a conversation has changed about the tools that its request lists. */
export interface ToolChanges {
  /** Names that a search of tools has found, or that were added. */
  readonly loaded: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
  /** Definitions that stand in the conversation. */
  readonly defined: readonly Fields[];
}

/**
 * Reads `tool_reference` in the results of a search, and `tool_addition` and `tool_removal` anywhere; the later one
 * hold (types of @anthropic-ai/sdk 1.14, 2026-11).
 */
export function findToolChanges(messages: unknown): ToolChanges {
  const loaded = new Set<string>();
  const removed = new Set<string>();
  const defined: Fields[] = [];

  function load(name: string): void {
    loaded.add(name);
    removed.delete(name);
  }

  function add(tool: Fields): void {
    const definition = toFields(tool.definition);
    if (isFields(definition.input_schema)) defined.push(definition);
    load(toText(definition.name) || toText(tool.name));
  }

  function read(block: Fields): void {
    const { type } = block;
    if (type === 'tool_reference') load(toText(block.tool_name));
    else if (type === 'tool_addition') add(toFields(block.tool));
    else if (type === 'tool_removal') removed.add(toText(toFields(block.tool).name));
    else if (type === 'tool_result') for (const part of toList(block.content)) read(toFields(part));
  }

  for (const message of toList(messages))
    for (const block of toList(toFields(message).content)) read(toFields(block));
  return { loaded, removed, defined };
}
