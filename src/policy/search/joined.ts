/** Texts as one. */
export interface Joined {
  readonly text: string;
  /** Where its parts meet. */
  readonly joints: readonly number[];
}

/** Texts joined; of the first and the last no more than the reach. */
export function join(texts: readonly string[], separator: string, reach: number): Joined {
  let text = (texts[0] as string).slice(-reach);
  const joints: number[] = [];
  for (let at = 1; at < texts.length; at += 1) {
    const own = texts[at] as string;
    joints.push(text.length);
    text += separator + (at === texts.length - 1 ? own.slice(0, reach) : own);
  }
  return { text, joints };
}
