import type { Lifetime } from '../../lib/lifetime.ts';
import type {
  CheckBook,
  CheckResult,
  CheckService,
  KeptSizes,
  Unasked,
  UnaskedText,
} from '../../policy/checks/check-book.ts';
import { Admission } from '../../providers/admission.ts';

/** Most calls to one service at a time: a model that reads texts is rarely faster with more. */
const maxCalls = 8;
/** Most UTF-16 units of texts in one call, unless one text is longer. */
const maxCallLength = 256 * 1_024;

type Result = readonly [id: string, result: CheckResult];

/** On whose behalf texts are asked about. */
interface Asker {
  readonly lifetime: Lifetime;
  /** The key: where several wait, each has a call in turn. */
  readonly key: string;
  /** What has been remembered for the same body. */
  readonly kept: KeptSizes;
}

/** Asks services, each about what is not known yet: a few calls at a time, of texts up to a length. */
export class CheckCalls {
  readonly #lines = new Map<string, Admission>();

  /**
   * What a service says of texts. What one call has learned is kept, so that a request which is sent again after a failure
   * gets further. Never rejects, but with the lifetime's reason.
   */
  async ask(book: CheckBook, { service, texts }: Unasked, asker: Asker): Promise<readonly Result[]> {
    const { known: results, unknown } = recall(book, { service, texts });
    let failure: CheckResult | undefined;
    for (const part of partsOf(unknown)) {
      const answered =
        failure === undefined
          ? await this.#askOnce(book, { service, texts: part }, asker)
          : failed(part, failure);
      failure ??= answered.find(([, result]) => 'failure' in result)?.[1];
      results.push(...answered);
    }
    return results;
  }

  async #askOnce(
    book: CheckBook,
    asked: Unasked,
    { lifetime, key, kept }: Asker,
  ): Promise<readonly Result[]> {
    const { service, texts } = asked;
    const line = this.#lineOf(service);
    if (!line.tryEnter()) {
      try {
        await line.enter(lifetime, { waitMs: service.timeoutMs, whose: key });
      } catch {
        lifetime.check();
        const { origin } = new URL(service.url);
        const failure = `the service at ${origin} had no time for a call within ${service.timeoutMs} ms`;
        return failed(texts, { failure });
      }
    }
    try {
      // Whoever was before in the line may have asked about the same.
      const { known, unknown } = recall(book, asked);
      if (unknown.length === 0) return known;
      const { askService } = await import('./ask-service.ts');
      const answered = await askService({ service, texts: unknown }, lifetime);
      book.keep(service, answered, kept);
      return [...known, ...answered];
    } finally {
      line.leave();
    }
  }

  #lineOf({ url, timeoutMs }: CheckService): Admission {
    const line = this.#lines.get(url) ?? new Admission(maxCalls, timeoutMs);
    this.#lines.set(url, line);
    return line;
  }
}

/** What is known of texts by now, and those of which nothing is. */
function recall(book: CheckBook, { service, texts }: Unasked) {
  const known: Result[] = [];
  const unknown: UnaskedText[] = [];
  for (const each of texts) {
    const result = book.recall({ service, id: each.id });
    if (result === undefined) unknown.push(each);
    else known.push([each.id, result]);
  }
  return { known, unknown };
}

function failed(texts: readonly UnaskedText[], failure: CheckResult): readonly Result[] {
  return texts.map(({ id }) => [id, failure]);
}

function partsOf(texts: readonly UnaskedText[]): readonly (readonly UnaskedText[])[] {
  const parts: UnaskedText[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const each of texts) {
    if (length + each.text.length > maxCallLength) {
      parts.push([]);
      length = 0;
    }
    parts.at(-1)?.push(each);
    length += each.text.length;
  }
  return parts;
}
