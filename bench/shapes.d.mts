export const shapeNames: readonly string[];
export function shapedBody(
  name: string,
  bytes: number,
  target?: { readonly model?: string; readonly endpoint?: string; readonly seed?: number },
): Buffer;
