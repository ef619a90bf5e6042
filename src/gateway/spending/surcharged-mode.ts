import { type JsonDocument, kinds } from '../../json/json-document.ts';

/** Members of a request that choose how it is processed, and what of that costs no more than the known prices. */
const plainModes: Readonly<Record<string, ReadonlySet<string>>> = {
  service_tier: new Set(['auto', 'default', 'flex', 'standard', 'standard_only']),
  speed: new Set(['standard']),
  inference_geo: new Set(['global']),
};

/** Of a request, and of any of its texts and images. */
const cacheMembers = ['prompt_cache_options', 'prompt_cache_breakpoint'];
const plainLifetimes: ReadonlySet<string> = new Set(['30m']);

/** The member of a request that makes it cost more than the known prices; undefined if none does. */
export function findSurchargedMode(document: JsonDocument): string | undefined {
  const mode = Object.entries(plainModes).find(([name, plain]) =>
    isOther(document, document.member(document.root, name), plain),
  );
  return mode?.[0] ?? findLongCacheWrite(document);
}

function isOther(document: JsonDocument, entry: number | undefined, plain: ReadonlySet<string>): boolean {
  if (entry === undefined || document.kind(entry) === kinds.null) return false;
  return document.kind(entry) !== kinds.string || !plain.has(document.text(entry));
}

/** The member that asks OpenAI to keep what is written to the cache for twelve hours, at a price that is not known. */
function findLongCacheWrite(document: JsonDocument): string | undefined {
  for (let entry = 0; entry < document.count; entry += 1) {
    if (!document.isKey(entry)) continue;
    const name = cacheMembers.find((each) => document.isText(entry, each));
    if (name !== undefined && isOther(document, document.member(entry + 1, 'ttl'), plainLifetimes)) {
      return `${name}.ttl`;
    }
  }
  return undefined;
}
