import type { Lifetime } from '../../lib/lifetime.ts';
import { type CheckAnswers, type CheckBook, Unchecked } from '../../policy/checks/check-book.ts';

/** What a request becomes is checked as well: redacted, up to three times, and then perhaps translated. */
const maxRounds = 8;

/**
 * Decides, asks the services about all texts that they have not been asked about, and decides again with their answers,
 * until no such text is left. Each service is asked once in a round; most requests take one, or none. Rejects with the
 * lifetime's reason if that ends; where texts keep changing the last decision fails its rules.
 */
export async function withChecks<Decided>(
  checks: CheckBook,
  attempt: (answers: CheckAnswers) => Decided | Unchecked | Promise<Decided | Unchecked>,
  lifetime?: Lifetime,
): Promise<Decided> {
  let answers: CheckAnswers = new Map();
  for (let round = 0; ; round += 1) {
    const decided = await attempt(answers);
    if (!(decided instanceof Unchecked)) return decided;
    lifetime?.check();
    answers = decided.answers;
    const isOver = round >= maxRounds;
    const { askService } = await import('./ask-service.ts');
    await Promise.all(
      decided.unasked.map(async ({ service, texts }) => {
        const unknown = texts.filter(({ id }) => {
          const known = checks.recall({ service, id });
          if (known !== undefined) answers.set(id, known);
          return known === undefined;
        });
        if (unknown.length === 0) return;
        const results = isOver
          ? unknown.map(({ id }) => [id, { failure: 'its texts kept changing' }] as const)
          : await askService({ service, texts: unknown }, lifetime);
        checks.keep(service, results);
        for (const [id, result] of results) answers.set(id, result);
      }),
    );
    lifetime?.check();
  }
}
