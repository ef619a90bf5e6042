const longestData = 200;

/** A request for people: attachments are reduced to their size. */
export function shownBody(body: unknown): string {
  return JSON.stringify(body, (_, value) => withoutData(value), 2);
}

function withoutData(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= longestData) return value;
  const [, head = '', data] = /^(data:[^,]{1,100},)?([A-Za-z0-9+/]+=*)$/.exec(value) ?? [];
  return data === undefined ? value : `${head}… ${data.length} characters of base64`;
}
