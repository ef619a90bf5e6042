/** A text as it stands in a JSON string: UTF-8, in which every backslash begins an escape. */
export interface TextBytes {
  readonly bytes: Uint8Array;
  /** The same bytes, to be read by the word. */
  readonly words: DataView;
  readonly start: number;
  readonly end: number;
}
