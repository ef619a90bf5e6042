export const shapeNames: readonly string[];
export function shapedBody(name: string, bytes: number, model?: string): Buffer;
