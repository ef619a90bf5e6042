import { type JsonDocument, kinds } from '../../json/json-document.ts';

/**
 * Whether an entry stands for all tools of a server, or of something else whose tool names the gateway doesn't know.
 */
export function isUnnamedTool(document: JsonDocument, tool: number, type: string): boolean {
  switch (type) {
    case 'mcp':
      return !listsNames(document, document.member(tool, 'allowed_tools'));
    case 'mcp_toolset':
      return !isSwitchedOff(document, document.member(tool, 'default_config'));
    case 'mcp_toolset_reference':
      return true;
    default:
      return false;
  }
}

/** A server of the Messages API: by itself all its tools, unless a toolset or its own settings choose among them. */
export function isUnnamedServer(
  document: JsonDocument,
  server: number,
  withToolset: ReadonlySet<string>,
): boolean {
  const settings = document.member(server, 'tool_configuration');
  if (settings !== undefined && isSwitchedOff(document, settings)) return false;
  if (settings !== undefined && listsNames(document, document.member(settings, 'allowed_tools')))
    return false;
  const name = document.memberText(server, 'name');
  return name === undefined || !withToolset.has(name);
}

/** Names of the servers for which there is a toolset among the tools. */
export function serversWithToolset(document: JsonDocument): ReadonlySet<string> {
  const names = new Set<string>();
  const tools = document.member(document.root, 'tools');
  if (tools === undefined || document.kind(tools) !== kinds.array) return names;
  for (let tool = tools + 1; tool < document.next(tools); tool = document.next(tool)) {
    const name = document.memberText(tool, 'mcp_server_name');
    if (name !== undefined && document.memberText(tool, 'type') === 'mcp_toolset') names.add(name);
  }
  return names;
}

function isSwitchedOff(document: JsonDocument, settings: number | undefined): boolean {
  const enabled = settings === undefined ? undefined : document.member(settings, 'enabled');
  return enabled !== undefined && document.kind(enabled) === kinds.false;
}

/** Names as a list, or as `{ tool_names }`; an empty list may mean none or all. */
function listsNames(document: JsonDocument, allowed: number | undefined): boolean {
  if (allowed === undefined) return false;
  const names = document.kind(allowed) === kinds.object ? document.member(allowed, 'tool_names') : allowed;
  if (names === undefined || document.kind(names) !== kinds.array) return false;
  const end = document.next(names);
  if (end === names + 1) return false;
  for (let at = names + 1; at < end; at = document.next(at)) {
    if (document.kind(at) !== kinds.string) return false;
  }
  return true;
}
