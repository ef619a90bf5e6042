/** Receives the pieces of an answer as they arrive. */
export interface AnswerPrinter {
  print(piece: string): void;
  /** Writes what was held back when an answer is cut off. */
  flush(): Promise<void>;
  /** Writes what was held back, with a line break if there is none. */
  end(): Promise<void>;
}
