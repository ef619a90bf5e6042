/** A text without its percent-encoding; as it is if that is broken, such as a password with a percent sign. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
