import { type JsonDocument, kinds } from '../../json/json-document.ts';

/** Members of a request that choose how it is processed, and what of that costs no more than the known prices. */
const plainModes: Readonly<Record<string, ReadonlySet<string>>> = {
  service_tier: new Set(['auto', 'default', 'flex', 'standard', 'standard_only']),
  speed: new Set(['standard']),
  inference_geo: new Set(['global']),
  // Audio, and searches that hosts charge for without a tool.
  audio: new Set(),
  web_search_options: new Set(),
  search_parameters: new Set(),
  plugins: new Set(),
};

/** Of a request, and of any of its texts and images. */
const cacheMembers = ['prompt_cache_options', 'prompt_cache_breakpoint'];
const plainLifetimes: ReadonlySet<string> = new Set(['30m']);
const plainModalities: ReadonlySet<string> = new Set(['text']);
const dearParts = ['input_audio', 'audio_url', 'input_video', 'video_url'];

/** The member of a request that makes it cost more than the known prices; undefined if none does. */
export function findSurchargedMode(document: JsonDocument): string | undefined {
  const mode = Object.entries(plainModes).find(([name, plain]) =>
    isOther(document, document.member(document.root, name), plain),
  );
  return mode?.[0] ?? findModality(document) ?? findInside(document);
}

function isOther(document: JsonDocument, entry: number | undefined, plain: ReadonlySet<string>): boolean {
  if (entry === undefined || document.kind(entry) === kinds.null) return false;
  return document.kind(entry) !== kinds.string || !plain.has(document.text(entry));
}

/** Whether an answer may be more than text. */
function findModality(document: JsonDocument): string | undefined {
  const list = document.member(document.root, 'modalities');
  if (list === undefined || document.kind(list) !== kinds.array) return undefined;
  for (let at = list + 1; at < document.next(list); at = document.next(at)) {
    if (isOther(document, at, plainModalities)) return 'modalities';
  }
  return undefined;
}

/**
 * Anywhere in a request: what asks OpenAI to keep what is written to the cache for twelve hours, and audio or video, whose
 * tokens have prices of their own.
 */
function findInside(document: JsonDocument): string | undefined {
  for (let entry = 0; entry < document.count; entry += 1) {
    if (!document.isKey(entry)) continue;
    const name = cacheMembers.find((each) => document.isText(entry, each));
    if (name !== undefined && isOther(document, document.member(entry + 1, 'ttl'), plainLifetimes)) {
      return `${name}.ttl`;
    }
    if (!document.isText(entry, 'type')) continue;
    // Compared in place: every block of a body has a type.
    const dear = dearParts.find((each) => document.isText(entry + 1, each));
    if (dear !== undefined) return dear;
  }
  return undefined;
}
