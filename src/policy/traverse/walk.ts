import type { Dialect } from '../../dialects/dialect.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { everyRole, roleBits } from './place.ts';
import { createMemberReader, type MemberReader } from './reading-order.ts';
import { isTopReference, unseenBlock } from './unseen.ts';
import { Context, joins, type Visitor } from './walk-context.ts';
import { ValueWalk } from './walk-values.ts';

export interface Walk {
  /** Visits every string, key and number of a request, under any field name. */
  request(document: JsonDocument, dialect: Dialect, visitor: Visitor): void;
  /** The same for an answer, or a part of one; it has no roles. The texts of each choice of a chat are apart. */
  document(document: JsonDocument, roles: number, visitor: Visitor): void;
}

export function createWalk(): Walk {
  const reader = createMemberReader();
  const own = new Map<Dialect['members'], MemberReader>();
  const readerOf = ({ members }: Dialect): MemberReader => {
    if (members === undefined) return reader;
    const known = own.get(members) ?? createMemberReader(members);
    own.set(members, known);
    return known;
  };
  return {
    request: (document, dialect, visitor) =>
      new RequestWalk(visitor, readerOf(dialect), dialect).request(document),
    document: (document, roles, visitor) => {
      const context = new Context({ roles, conversation: joins.required, isData: true });
      const { root } = document;
      const choices = document.member(root, 'choices') ?? document.member(root, 'candidates');
      new ValueWalk({ visitor, reader, choices }).value(document, root, context);
    },
  };
}

/** Members of requests whose texts are ids, names, addresses, choices and schemas; dialects have further ones. */
const settings = new Set(
  [
    'model models fallbacks fallback_models fallback_model provider route plugins preset transforms',
    'user safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options',
    'service_tier speed inference_geo container context_management cache_control betas include store truncation',
    'conversation previous_response_id previous_interaction_id thread client_metadata user_profile_id labels',
    'tool_choice parallel_tool_calls function_call mcp_servers toolConfig tool_config',
    'response_format output_config output_format generationConfig generation_config safetySettings safety_settings',
    'reasoning reasoning_effort thinking verbosity modalities audio stream_options moderation diagnostics',
    'cachedContent cached_content encoding_format taskType task_type input_type',
  ].flatMap((line) => line.split(' ')),
);

/** The fields of a request, and the turns of its conversation, in the order in which the model reads them. */
class RequestWalk {
  readonly #visitor: Visitor;
  readonly #dialect: Dialect;
  readonly #values: ValueWalk;
  readonly #everything = new Context({ roles: everyRole, conversation: joins.none, isData: false });
  readonly #unlisted = new Context({
    roles: everyRole,
    conversation: joins.none,
    isData: false,
    isUnlisted: true,
  });
  readonly #conversation = new Context({ roles: everyRole, conversation: joins.required, isData: false });

  constructor(visitor: Visitor, reader: MemberReader, dialect: Dialect) {
    this.#visitor = visitor;
    this.#dialect = dialect;
    this.#values = new ValueWalk({ visitor, reader, dialect });
  }

  request(document: JsonDocument, object: number = document.root): void {
    // The model reads system texts, or a title, before all others, wherever they stand in the body.
    const first = new Set<number>();
    for (const [name, place] of this.#dialect.places) {
      const entry = place === 'system' || place === 'title' ? document.member(object, name) : undefined;
      if (entry !== undefined) first.add(entry - 1);
    }
    for (const key of first) this.#field(document, key);
    const end = document.next(object);
    for (let key = object + 1; key < end; key = document.next(key + 1)) {
      if (!first.has(key)) this.#field(document, key);
    }
  }

  #field(document: JsonDocument, key: number): void {
    const name = document.text(key);
    const value = key + 1;
    this.#visitor.text(document, key, this.#everything);
    if (isTopReference(document, name, value)) {
      this.#visitor.unseen('reference', { document, entry: value });
    }
    const place = this.#dialect.places.get(name);
    switch (place) {
      case undefined: {
        const isSetting = settings.has(name) || this.#dialect.settings?.includes(name) === true;
        return this.#values.field(document, key, isSetting ? this.#everything : this.#unlisted);
      }
      case 'turns':
        return this.#turns(document, value);
      case 'request':
        if (document.kind(value) === kinds.object) return this.request(document, value);
        return this.#values.field(document, key, this.#unlisted);
      case 'tool_definition':
        return this.#tools(document, value);
      case 'title':
        return this.#values.section(
          document,
          value,
          this.#conversation.as(roleBits.user).optional(`.${name}`),
        );
      case 'parts':
        return this.#values.section(document, value, this.#everything.alone(`.${name}`));
      default:
        return this.#values.section(document, value, this.#conversation.as(roleBits[place]));
    }
  }

  #tools(document: JsonDocument, entry: number): void {
    for (const tool of document.elements(entry)) {
      const unseen = unseenBlock(document, tool, { type: document.memberText(tool, 'type') });
      if (unseen !== undefined) this.#visitor.unseen(unseen, { document, entry: tool });
    }
    this.#values.value(document, entry, this.#everything.as(roleBits.tool_definition));
  }

  /** The conversation: each element a turn with its own role. */
  #turns(document: JsonDocument, entry: number): void {
    // A plain text in place of turns is the user's.
    if (document.kind(entry) !== kinds.array)
      return this.#values.section(document, entry, this.#conversation.as(roleBits.user));
    this.#values.refuseNumbers(document, entry, this.#conversation);
    const end = document.next(entry);
    for (let turn = entry + 1; turn < end; turn = document.next(turn)) {
      const role = this.#dialect.turnRole(document, turn);
      this.#visitor.turn(turn, role);
      const context = role === undefined ? this.#conversation : this.#conversation.as(roleBits[role]);
      this.#values.turn(document, turn, context);
    }
  }
}
