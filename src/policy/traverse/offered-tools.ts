import { type Dialect, memberAt, requestsIn } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { answerSchemas, toolSchemas } from './reading-order.ts';
import { isUnnamedServer, isUnnamedTool, labelledServers, serversWithToolset } from './unseen.ts';

/** A tool that a request offers or forces, by one of its names. */
export interface OfferedTool {
  readonly name: string;
  /** The same with its namespace, as hosts and clients join the two. */
  readonly qualified: readonly string[];
  /** Where the name is. */
  readonly entry: number;
}

export interface OfferedTools {
  readonly named: readonly OfferedTool[];
  /** Where tools are offered whose names can't be read here. */
  readonly unnamed: readonly number[];
}

/** Fields of a request, and of an item inside it, that offer or force tools. */
const fields = ['tools', 'functions', 'tool_choice', 'function_call', 'mcp_servers'] as const;
/** Settings of chat hosts for what is a tool everywhere else. */
const searchSettings = ['web_search_options', 'search_parameters', 'enable_search'] as const;
const fieldNames: ReadonlySet<string> = new Set([...fields, ...searchSettings]);
const nameKeys = new Set(['name', 'tool_name', 'server_label', 'server_name', 'mcp_server_name', 'skill_id']);
// Types that only say what kind of tool it is, and choices that only say whether tools may be called at all.
const plainTypes = new Set([
  ...['function', 'custom', 'namespace', 'auto', 'any', 'none', 'required', 'tool', 'allowed_tools', 'url'],
  ...['tool_reference', 'tool_definition', 'tool_addition', 'mcp_tool_reference', 'mcp_toolset_reference'],
  'skill_reference',
]);
// Fields that describe a tool or its input: the names in them are not tools.
const shapes = new Set([
  ...answerSchemas,
  ...toolSchemas,
  'response',
  'format',
  'input_examples',
  'cache_control',
  'headers',
  'filters',
  'user_location',
]);

/** Members of a request in which other members' names say nothing about tools: turns, schemas, the client's own data. */
const otherFields = new Set([
  ...['messages', 'input', 'system', 'instructions', 'prompt', 'prediction', 'metadata', 'user'],
  ...['response_format', 'text', 'output_format', 'output_config'],
  ...['context_management', 'container', 'plugins'],
]);
const turnFields = ['messages', 'input'] as const;
/** Members of an item that may add tools. */
const addingFields = ['content', 'output', 'tool_references', 'tool_changes'] as const;
/** Under such a name a host finds tools: `chat_template_kwargs: { tools }`, `tool_config: { functionDeclarations }`. */
const toolWord = /tool|function|mcp|plugin|skill|connector/i;

/** Every name and built-in type of the tools that a request offers or forces, in any dialect. */
export function findTools(document: JsonDocument, dialect: Dialect): OfferedTools {
  const search = new ToolSearch(document, dialect);
  search.all();
  return search;
}

class ToolSearch implements OfferedTools {
  readonly named: OfferedTool[] = [];
  readonly unnamed: number[] = [];
  readonly #document: JsonDocument;
  /** Of a dialect whose tools are members of an object. */
  readonly #own: Dialect['toolMembers'];
  readonly #requests: readonly number[];
  #isChoice = false;
  /** Labels of the servers among the tools. */
  #servers: ReadonlySet<string> | undefined;

  constructor(document: JsonDocument, dialect: Dialect) {
    this.#document = document;
    this.#own = dialect.toolMembers;
    this.#requests = requestsIn(document, dialect);
  }

  all(): void {
    for (const request of this.#requests) this.#request(request);
  }

  #request(root: number): void {
    const document = this.#document;
    this.#fields(root);
    for (const path of this.#own?.choices ?? []) {
      const names = memberAt(document, path, root);
      if (names !== undefined) this.#choice(names);
    }
    const servers = document.member(root, 'mcp_servers');
    if (servers !== undefined) {
      const withToolset = serversWithToolset(document);
      for (const server of this.#document.elements(servers)) {
        if (isUnnamedServer(document, server, withToolset)) this.unnamed.push(server);
      }
    }
    for (const field of searchSettings) {
      const search = document.member(root, field);
      if (search !== undefined && !isOff(document, search)) {
        this.named.push({ name: 'web_search', qualified: [field], entry: search });
      }
    }
    const plugins = document.member(root, 'plugins');
    if (plugins !== undefined) for (const plugin of this.#document.elements(plugins)) this.#plugin(plugin);
    this.#passedThrough(root);
    const container = document.member(root, 'container');
    if (container !== undefined && document.kind(container) === kinds.object) this.#object(container, '');
    for (const field of turnFields) {
      const turns = document.member(root, field);
      if (turns !== undefined) this.#addedIn(turns);
    }
  }

  /** Members that hosts pass on to something else, or merge into the request: what they offer can't be read here. */
  #passedThrough(root: number): void {
    const document = this.#document;
    for (let key = root + 1; key < document.next(root); key = document.next(key + 1)) {
      const kind = document.kind(key + 1);
      if (kind !== kinds.object && kind !== kinds.array) continue;
      if (this.#requests.includes(key + 1)) continue;
      const name = document.text(key);
      if (otherFields.has(name) || fieldNames.has(name)) continue;
      if (this.#own?.others.includes(name) === true) continue;
      if (this.#mentionsTools(key)) this.unnamed.push(key + 1);
    }
  }

  /** Names of functions, or one: each is a function's name, even if the word means something else elsewhere. */
  #choice(names: number): void {
    if (this.#document.kind(names) === kinds.string) this.#add(names, '');
    for (const name of this.#document.elements(names)) this.#choice(name);
  }

  /** Whether the name of a member, or of one inside it, is about tools. */
  #mentionsTools(member: number): boolean {
    const document = this.#document;
    for (let at = member; at < document.next(member + 1); at += 1) {
      if (document.isKey(at) && toolWord.test(document.text(at))) return true;
    }
    return false;
  }

  #plugin(plugin: number): void {
    const id = this.#document.member(plugin, 'id');
    if (id !== undefined && this.#document.kind(id) === kinds.string) this.#add(id, '');
    else this.unnamed.push(plugin);
  }

  #fields(object: number): void {
    const document = this.#document;
    for (const field of fields) {
      const entry = document.member(object, field);
      if (entry === undefined) continue;
      const isList = field === 'tools' || field === 'functions';
      // Google takes one object for a list of it.
      this.#isChoice = field === 'tool_choice';
      if (isList && (this.#own !== undefined || document.kind(entry) === kinds.array)) this.#tools(entry);
      else this.#value(entry, '');
      this.#isChoice = false;
    }
  }

  /** A tool without any name or type of its own could be any. */
  #tools(list: number): void {
    for (const tool of this.#document.kind(list) === kinds.object ? [list] : this.#document.elements(list)) {
      const before = this.named.length + this.unnamed.length;
      if (this.#own === undefined) this.#value(tool, '');
      else this.#members(tool, this.#own.declarations);
      if (this.named.length + this.unnamed.length === before) this.unnamed.push(tool);
    }
  }

  /** A list of functions, and tools of the provider by the names of their settings. */
  #members(tool: number, declarations: readonly string[]): void {
    const document = this.#document;
    if (document.kind(tool) !== kinds.object) return;
    for (let key = tool + 1; key < document.next(tool); key = document.next(key + 1)) {
      const name = document.text(key);
      if (declarations.includes(name)) this.#value(key + 1, '');
      else if (document.kind(key + 1) !== kinds.null) {
        // Hosts that take other dialects' tools as well find names inside.
        this.#member(key, { entry: tool, namespace: '', inner: '' });
        const spelling = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        this.named.push({ name: spelling, qualified: spelling === name ? [] : [name], entry: key });
      }
    }
  }

  /** Tools that are added, found or listed in the middle of a conversation. */
  #added(entry: number): void {
    const document = this.#document;
    this.#addedIn(entry);
    if (document.kind(entry) !== kinds.object) return;
    this.#fields(entry);
    switch (document.memberText(entry, 'type')) {
      case 'tool_removal':
        return;
      case 'tool_reference':
      case 'tool_addition':
      case 'mcp_tool_listing':
        this.#object(entry, '');
        return;
      default:
    }
    for (const name of addingFields) {
      const value = document.member(entry, name);
      if (value !== undefined) this.#added(value);
    }
  }

  /** The same of each element; a loop, as every body has a list of turns. */
  #addedIn(list: number): void {
    const document = this.#document;
    if (document.kind(list) !== kinds.array) return;
    for (let each = list + 1; each < document.next(list); each = document.next(each)) this.#added(each);
  }

  #value(entry: number, namespace: string): void {
    switch (this.#document.kind(entry)) {
      case kinds.string:
        return this.#addUnlessPlain(entry, namespace);
      case kinds.array:
        for (const each of this.#document.elements(entry)) this.#value(each, namespace);
        return;
      case kinds.object:
        return this.#object(entry, namespace);
      default:
    }
  }

  #object(entry: number, namespace: string): void {
    const document = this.#document;
    const type = document.memberText(entry, 'type');
    if (type !== undefined && isUnnamedTool(document, entry, type) && !this.#isChoiceOfKnown(entry, type))
      this.unnamed.push(entry);
    const inner = type === 'namespace' ? (document.memberText(entry, 'name') ?? '') : namespace;
    for (let key = entry + 1; key < document.next(entry); key = document.next(key + 1)) {
      this.#member(key, { entry, namespace, inner });
    }
  }

  /**
   * `tool_choice: { type: "mcp", server_label, name }` forces one tool of a server; without the name any of them, which
   * are what the server's own entry among the tools says.
   */
  #isChoiceOfKnown(entry: number, type: string): boolean {
    const document = this.#document;
    if (type !== 'mcp' || !this.#isChoice) return false;
    if (document.memberText(entry, 'name') !== undefined) return true;
    const label = document.memberText(entry, 'server_label');
    this.#servers ??= labelledServers(document);
    return label !== undefined && this.#servers.has(label);
  }

  #member(key: number, from: { entry: number; namespace: string; inner: string }): void {
    const document = this.#document;
    const value = key + 1;
    const name = document.text(key);
    const kind = document.kind(value);
    if (kind === kinds.string && name === 'type') this.#addUnlessPlain(value, from.namespace);
    else if (kind === kinds.string && nameKeys.has(name)) this.#add(value, from.namespace);
    else if (kind === kinds.object && name === 'configs') this.#configs(value, from.entry);
    // Lists of names are how some hosts allow single tools of a server.
    else if (kind === kinds.array && /tool(?:s|_names)$/.test(name)) this.#value(value, from.inner);
    else if (kind === kinds.object && !shapes.has(name)) this.#object(value, from.inner);
    else if (kind === kinds.array && !shapes.has(name)) {
      for (const each of this.#document.elements(value)) {
        if (document.kind(each) === kinds.object) this.#object(each, from.inner);
      }
    }
  }

  /** Settings of single tools, by their names; those that are switched off are not offered. */
  #configs(configs: number, toolset: number): void {
    const document = this.#document;
    const defaults = document.member(toolset, 'default_config');
    const isDisabled = (settings: number | undefined) => {
      const enabled = settings === undefined ? undefined : document.member(settings, 'enabled');
      return enabled === undefined ? undefined : document.kind(enabled) === kinds.false;
    };
    for (let key = configs + 1; key < document.next(configs); key = document.next(key + 1)) {
      if ((isDisabled(key + 1) ?? isDisabled(defaults)) !== true) this.#add(key, '');
    }
  }

  #addUnlessPlain(entry: number, namespace: string): void {
    if (!plainTypes.has(this.#document.text(entry))) this.#add(entry, namespace);
  }

  #add(entry: number, namespace: string): void {
    const name = this.#document.text(entry);
    const qualified = namespace === '' ? [] : [`${namespace}__${name}`, `${namespace}.${name}`];
    this.named.push({ name, qualified, entry });
  }
}

function isOff(document: JsonDocument, setting: number): boolean {
  const kind = document.kind(setting);
  return kind === kinds.null || kind === kinds.false || document.memberText(setting, 'mode') === 'off';
}
