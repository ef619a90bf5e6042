/** Where the pieces of an answer go as they arrive. */
export interface AnswerPrinter {
  print(piece: string): void;
  /** Writes what was held back of an answer that broke off. */
  flush(): Promise<void>;
  /** Writes what was held back, with a line end if there is none. */
  end(): Promise<void>;
}
