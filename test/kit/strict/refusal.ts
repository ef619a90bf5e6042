/** Steps from the top of a request body to one value: `['messages', 0, 'content']`. */
export type Path = readonly (string | number)[];

interface RefusalDetails {
  /** The field that was wrong. */
  readonly path?: Path;
  /** The OpenAI dialects' machine-readable code. */
  readonly code?: string;
  /** The Messages dialect's code, sent as `error.details.error_code`. */
  readonly errorCode?: string;
}

/** What the sandbox answers instead of a model's output; each dialect renders it in its own form. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly path: Path | undefined;
  readonly code: string | undefined;
  readonly errorCode: string | undefined;

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super(message);
    this.status = status;
    this.path = details.path;
    this.code = details.code;
    this.errorCode = details.errorCode;
  }
}

/** A 400 about one field. */
export function invalidField(path: Path, problem: string, code = 'invalid_value'): Refusal {
  return new Refusal(400, problem, { path, code });
}
