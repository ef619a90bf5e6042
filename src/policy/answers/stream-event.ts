/** One server-sent event: its name, if it has one, and its data. */
export interface StreamEvent {
  readonly name?: string;
  readonly data: string;
}
