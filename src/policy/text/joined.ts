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

/** Index of the last joint before a place; -1 where there is none. By halves, since findings are as many as joints. */
export function lastJointBefore(joints: readonly number[], place: number): number {
  let low = 0;
  let high = joints.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((joints[middle] as number) < place) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
