/** A text as searches compare it: without case, in one Unicode form, without blanks around it. */
export function searchKey(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}
