/** jq built by Emscripten, as far as it is used here; the package has no types of its own. */
declare module 'jq-web' {
  const jq: Promise<{
    /** What jq prints without its last line end; undefined for nothing. Throws with `stderr` and `exitCode`. */
    raw(json: string, expression: string, flags: readonly string[]): string | undefined;
  }>;
  export default jq;
}
