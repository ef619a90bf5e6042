const lookBack = 48;

/**
 * The lower-cased words shortly before a place, on its own line, for detectors whose shape alone can't tell.
 * A constant number of characters is looked at.
 */
export function wordsBefore(text: string, start: number): string {
  const context = text.slice(Math.max(0, start - lookBack), start);
  return context.slice(context.lastIndexOf('\n') + 1).toLowerCase();
}
