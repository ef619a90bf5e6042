/** A text as searches compare it: lower case, normalized, without surrounding white space. */
export function searchKey(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}
