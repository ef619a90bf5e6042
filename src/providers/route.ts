import type { Target } from './forward.ts';
import type { Provider } from './provider.ts';

/** One line of the configuration's model list. */
export interface ModelRoute {
  /** A name, or a glob in which * stands for any characters and ? for one. */
  readonly match: string;
  readonly provider: string;
  /** The name at the provider; the requested one where there is none. */
  readonly model?: string | undefined;
  readonly fallbacks: readonly { readonly provider: string; readonly model?: string | undefined }[];
}

/** Where a requested model goes: the targets in the order they are tried, and the line that said so. */
export interface Route<Entry extends ModelRoute> {
  readonly entry: Entry;
  readonly targets: readonly Target[];
}

export interface Router<Entry extends ModelRoute> {
  /** Undefined where no line matches. */
  resolve(model: string): Route<Entry> | undefined;
}

// Clients choose the names, so what is remembered of them is bounded.
const rememberedNames = 1_000;

/** Compiles the model list; the first line that matches wins. Targets without a configured provider are left out. */
export function createRouter<Entry extends ModelRoute>(
  entries: readonly Entry[],
  providers: ReadonlyMap<string, Provider>,
): Router<Entry> {
  const lines = entries.map((entry) => ({ entry, matches: compileGlob(entry.match) }));
  const known = new Map<string, Route<Entry> | undefined>();

  const find = (model: string): Route<Entry> | undefined => {
    const entry = lines.find((line) => line.matches(model))?.entry;
    if (entry === undefined) return undefined;
    const choices = [{ provider: entry.provider, model: entry.model }, ...entry.fallbacks];
    const targets = choices.flatMap((choice) => {
      const provider = providers.get(choice.provider);
      return provider === undefined ? [] : [{ provider, model: choice.model ?? model }];
    });
    return { entry, targets };
  };

  return {
    resolve: (model) => {
      if (known.has(model)) return known.get(model);
      if (known.size >= rememberedNames) known.clear();
      const route = find(model);
      known.set(model, route);
      return route;
    },
  };
}

export function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern);
}

/** A full-string match that never goes back further than to the last star. */
export function compileGlob(pattern: string): (text: string) => boolean {
  if (!isGlob(pattern)) return (text) => text === pattern;
  return (text) => matchesGlob(pattern, text);
}

function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    const char = pattern[place];
    if (char === '*') {
      star = place;
      resume = at;
      place += 1;
    } else if (char === '?' || char === text[at]) {
      place += 1;
      at += 1;
    } else if (star >= 0) {
      resume += 1;
      at = resume;
      place = star + 1;
    } else return false;
  }
  while (pattern[place] === '*') place += 1;
  return place === pattern.length;
}
