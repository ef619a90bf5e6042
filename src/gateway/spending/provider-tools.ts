import { type JsonDocument, kinds } from '../../json/json-document.ts';

/** What the tools of a request that its provider runs can cost beyond tokens. */
export interface ToolFees {
  /** The most searches of the web; where nothing bounds them, more than an answer usually takes. */
  readonly searches: number;
  /** The type of a tool whose fee is not known. */
  readonly unpriced: string | undefined;
}

const unboundedSearches = 20;

/** Run by the client, or by the provider without a fee beyond tokens; a tool without a type is the client's. */
const freeTypes =
  /^(?:function|custom|namespace|mcp|mcp_toolset|apply_patch|local_shell|computer\w*|(?:bash|text_editor|memory|web_fetch|tool_search\w*)_\d{8}|tool_search)$/;
const searchTypes = /^web_search(?:_\d{8}|_\d{4}_\d{2}_\d{2})?$/;

/** What providers charge for the tools that they run themselves. */
export function findToolFees(document: JsonDocument): ToolFees {
  const tools = document.member(document.root, 'tools');
  let searches = 0;
  let unpriced: string | undefined;
  if (tools === undefined || document.kind(tools) !== kinds.array) return { searches, unpriced };
  for (let tool = tools + 1; tool < document.next(tools); tool = document.next(tool)) {
    const type = document.kind(tool) === kinds.object ? document.memberText(tool, 'type') : undefined;
    if (type === undefined || freeTypes.test(type)) continue;
    if (searchTypes.test(type)) searches += countAt(document, tool, 'max_uses') ?? unboundedSearches;
    else unpriced ??= type;
  }
  return {
    searches: Math.min(searches, countAt(document, document.root, 'max_tool_calls') ?? searches),
    unpriced,
  };
}

function countAt(document: JsonDocument, object: number, name: string): number | undefined {
  const entry = document.member(object, name);
  const count =
    entry === undefined || document.kind(entry) !== kinds.number ? Number.NaN : document.number(entry);
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
