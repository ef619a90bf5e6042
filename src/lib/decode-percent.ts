/** A text without its percent-encoding; as it is if that is broken, such as a password with a percent sign. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text with each percent-code undone, also between broken ones, as a lenient reader may. */
export function decodeEachPercent(text: string): string {
  if (!text.includes('%')) return text;
  const bytes = text.replace(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
