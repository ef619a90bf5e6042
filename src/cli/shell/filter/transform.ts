/** Turns a command's JSON output into what is shown. */
export interface Transform {
  /** One document, or several in a row. */
  apply(json: string): Promise<string>;
  close(): Promise<void>;
}
