/**
 * What one host takes in a request and does in its answers, where hosts of the same dialect differ. Plain data, so that
 * another thread can have it. `registry.ts` has a row for each host that people use, with the source of each value.
 */
export interface HostTraits {
  /** Chat's field that caps the output. */
  readonly tokenCap: 'max_tokens' | 'max_completion_tokens';
  /**
   * The field of an assistant's Chat message in which its reasoning is sent back: as text, as the signature of a call
   * (`extra_content`), or as the list that the host sent (`reasoning_details`, with the text as `reasoning` where there is
   * none). `none` if the host refuses such a field or has no use for it.
   */
  readonly reasoning: 'none' | 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'extra_content';
  /** Whether it refuses an assistant's message that has calls and no reasoning. */
  readonly needsReasoning: boolean;
  /** Whether models that think take a `reasoning_effort`, if `models.ts` has a row for them. */
  readonly takesEffort: boolean;
  /**
   * The dialect of OpenAI's in which its models reason between calls of tools; a request that is translated goes there, if
   * the provider has both.
   */
  readonly reasonsIn: 'chat' | 'responses';
  /** Whether a Chat request may have tools while the model reasons; where not, its effort must be `none`. */
  readonly reasonsBesideTools: boolean;
  /** The field that switches thinking off, for models that can be without. */
  readonly thinkingSwitch: 'none' | 'thinking' | 'enable_thinking';
  /** The choices of tools that it takes: any, all but forced calls (of models that think, or of all), or `auto` alone. */
  readonly toolChoices: 'any' | 'not_forced_while_thinking' | 'not_forced' | 'auto';
  /** The ids of calls that it takes: any, or exactly nine letters and digits. */
  readonly callIds: 'any' | 'nine_characters';
  /** Whether a Gemini host takes ids of calls at all. */
  readonly hasCallIds: boolean;
  /** Whether a user's message may follow the result of a call without an assistant's between them. */
  readonly userAfterTool: boolean;
  /** Whether system messages may come later than first. */
  readonly laterSystem: boolean;
  /**
   * Whether it knows OpenAI's own options: the developer role, verbosity, safety_identifier, service_tier,
   * prompt_cache_key.
   */
  readonly openAiOptions: boolean;
  /** Whether it knows the field `user`. */
  readonly endUser: boolean;
  /**
   * How its chat streams come to end with a usage: if `stream_options` asks for it; always, while it refuses the field; or
   * probably if asked, while a client's own body is better left alone.
   */
  readonly streamUsage: 'asked' | 'always' | 'likely';
  /**
   * What its schemas of arguments must be besides JSON Schema: without a `type` beside `anyOf`, without patterns, or of
   * Google's own keywords only.
   */
  readonly schemas: 'any' | 'typed_unions' | 'no_patterns' | 'google';
  /** The media types of pictures that it takes. */
  readonly images: 'any' | readonly string[];
  /** Whether pictures may be named by their address. */
  readonly imageUrls: boolean;
  /** Whether a Chat message may hold PDF documents. */
  readonly documents: boolean;
  /** Whether it takes stop sequences; where not, answers are cut at them here. */
  readonly stopSequences: boolean;
  /** The forms of answers that it enforces: any JSON object, one of a schema. */
  readonly formats: readonly ('json' | 'schema')[];
  /** Whether it enforces them in a request with tools. */
  readonly formatsWithTools: boolean;
  /** Whether a conversation may end with a message of the assistant, which is the beginning of the answer then. */
  readonly lastAssistant: boolean;
  /** The content of an assistant's Chat message that has calls and no text. */
  readonly contentBesideCalls: null | '';
  /** Whether temperature and top_p may be set; `one` if not together. */
  readonly sampling: 'both' | 'one' | 'none';
  /** How prompts are cached there: where breakpoints say so, by equal beginnings, or not as far as is known. */
  readonly promptCache: 'breakpoints' | 'prefix' | 'unknown';
}

/** The form that most hosts accept, for unknown ones. */
export const widelyAccepted: HostTraits = {
  tokenCap: 'max_tokens',
  reasoning: 'none',
  needsReasoning: false,
  takesEffort: false,
  reasonsIn: 'chat',
  reasonsBesideTools: true,
  thinkingSwitch: 'none',
  toolChoices: 'any',
  callIds: 'any',
  hasCallIds: true,
  userAfterTool: true,
  laterSystem: false,
  openAiOptions: false,
  endUser: true,
  streamUsage: 'likely',
  schemas: 'any',
  images: 'any',
  imageUrls: true,
  documents: false,
  stopSequences: true,
  formats: ['json', 'schema'],
  formatsWithTools: true,
  lastAssistant: true,
  contentBesideCalls: null,
  sampling: 'both',
  promptCache: 'unknown',
};
