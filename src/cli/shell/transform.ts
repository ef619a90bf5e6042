/** Turns the JSON that a command prints into what is shown. */
export interface Transform {
  /** One document, or several in a row. */
  apply(json: string): Promise<string>;
  close(): Promise<void>;
}
