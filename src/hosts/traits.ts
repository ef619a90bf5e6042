/**
 * What one host takes in a request and does in its answers, where hosts of the same dialect differ. Plain data, so that
 * another thread can have it. `registry.ts` has a row for each host that people use, with the source of each value.
 */
export interface HostTraits {
  /** Chat's field that caps the output. */
  readonly tokenCap: 'max_tokens' | 'max_completion_tokens';
  /**
   * The field of an assistant's Chat message in which its reasoning is sent back: as text, or (`extra_content`) as the
   * signature of a call. `none` if the host refuses such a field or has no use for it.
   */
  readonly reasoning: 'none' | 'reasoning_content' | 'reasoning' | 'extra_content';
  /** Whether it refuses an assistant's message that has calls and no reasoning. */
  readonly needsReasoning: boolean;
  /** The ids of calls that it takes: any, or exactly nine letters and digits. */
  readonly callIds: 'any' | 'nine_characters';
  /** Whether a Gemini host takes ids of calls at all. */
  readonly hasCallIds: boolean;
  /** Whether a user's message may follow the result of a call without an assistant's between them. */
  readonly userAfterTool: boolean;
  /** Whether system messages may come later than first. */
  readonly laterSystem: boolean;
  /** Whether it knows OpenAI's own options: the developer role, verbosity, safety_identifier, service_tier, prompt_cache_key. */
  readonly openAiOptions: boolean;
  /** Whether its chat streams end with a usage if `stream_options` asks for it. Others may refuse the field. */
  readonly streamUsage: boolean;
  /** Whether a Chat message may hold PDF documents. */
  readonly documents: boolean;
  /** Whether temperature and top_p may come together. */
  readonly twoSamplings: boolean;
  /** How prompts are cached there: where breakpoints say so, by equal beginnings, or not as far as is known. */
  readonly promptCache: 'breakpoints' | 'prefix' | 'unknown';
}

/** The form that most hosts accept, for those of which nothing is known. */
export const widelyAccepted: HostTraits = {
  tokenCap: 'max_tokens',
  reasoning: 'none',
  needsReasoning: false,
  callIds: 'any',
  hasCallIds: true,
  userAfterTool: true,
  laterSystem: false,
  openAiOptions: false,
  streamUsage: false,
  documents: false,
  twoSamplings: true,
  promptCache: 'unknown',
};
