/** What is summed up by project, key, model and quarter of an hour: columns of the table `sums`. */
export const summed = [
  'requests',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'nano_usd',
  'estimated',
  'unpriced',
] as const;

export type SummedColumn = (typeof summed)[number];

/** The `set` clause of an upsert that adds new amounts to existing ones. */
export function additions(table: string): string {
  return summed.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join();
}
