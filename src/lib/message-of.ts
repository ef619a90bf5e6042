/** The message of an error; an AggregateError, such as Node's for a name with several addresses, says what its errors do. */
export function messageOfError(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.message !== '') return cause.message;
  if (cause instanceof AggregateError && cause.errors.length > 0)
    return cause.errors.map(messageOfError).join(', ');
  return (cause as NodeJS.ErrnoException).code || cause.name;
}
