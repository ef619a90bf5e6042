import type { RuleDetail, ShownMatch } from '../../contract/exchange-detail.ts';
import { formatMicroseconds } from '../format.ts';
import { MarkedLine } from '../text/body-text.tsx';
import { visibleLine } from '../text/visible.ts';

interface Properties {
  readonly rules: readonly RuleDetail[];
  /** False if the rules that did not match are unknown. */
  readonly hasAllRules: boolean;
  /** Places of keys and passwords of documentation. */
  readonly examples: readonly string[];
  /** Jumps to a line of the scratch text. */
  onLine?(line: number): void;
}

const places = { request: '', outgoing: 'on what leaves', answer: 'on the answer' } as const;

/** Each rule in order, with what it matched and where it is defined. */
export function Rules({ rules, hasAllRules, examples, onLine }: Properties) {
  return (
    <>
      {rules.length === 0 && (
        <p class="note">{hasAllRules ? 'No rule applies to this key.' : 'No rule matched.'}</p>
      )}
      <ol class="rules">
        {rules.map((rule) => (
          <li
            key={`${rule.policy} ${rule.rule} ${rule.on}`}
            class={rule.matched ? `matched ${rule.action}` : 'passed'}
          >
            <div class="rule-line">
              <span class={`verdict ${rule.matched ? rule.action : 'none'}`}>
                {rule.matched ? rule.action : 'no match'}
              </span>
              <b>
                <bdi>{visibleLine(rule.rule)}</bdi>
              </b>
              {rule.policy !== undefined && <bdi class="note">{visibleLine(rule.policy)}</bdi>}
              {rule.mode !== 'enforce' && <span class="tag">{rule.mode}</span>}
              {rule.on !== 'request' && <span class="tag">{places[rule.on]}</span>}
              {rule.matched && rule.reason !== undefined && <code>{visibleLine(rule.reason)}</code>}
              <span class="rule-place">
                {placeOf(rule, onLine)}
                {rule.microseconds !== undefined && (
                  <span class="number">{formatMicroseconds(rule.microseconds)}</span>
                )}
              </span>
            </div>
            {rule.matches.length > 0 && (
              <ul class="matches">
                {rule.matches.map((match) => (
                  <Match key={`${match.at} ${match.matcher} ${match.view}`} match={match} />
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
      {examples.map((place) => (
        <p class="note" key={place}>
          <code class="pointer">{visibleLine(place)}</code> looks like a documentation example, not replaced.
        </p>
      ))}
      {!hasAllRules && rules.length > 0 && (
        <p class="note">Only rules that matched are shown: the others need the body, which was not kept.</p>
      )}
    </>
  );
}

function placeOf({ source }: RuleDetail, onLine: Properties['onLine']) {
  if (source === undefined) return 'built in';
  const { file, line } = source;
  if (onLine === undefined) return <code>{visibleLine(`${file}:${line}`)}</code>;
  return (
    <button type="button" class="link" onClick={() => onLine(line)}>
      line {line}
    </button>
  );
}

function Match({ match }: { readonly match: ShownMatch }) {
  const { at, view, matcher, count, detected, excerpt, excerpt_ranges: ranges = [] } = match;
  const detectors = detected?.map(({ detector, confidence }) => `${detector} (${confidence})`).join(', ');
  return (
    <li>
      <code class="pointer">
        <bdi>{at === '' ? 'the request as a whole' : visibleLine(at)}</bdi>
      </code>
      <span class="note">
        {visibleLine(
          [
            matcher,
            detectors,
            view !== undefined && view !== 'exact' ? `read as ${view}` : undefined,
            count > 1 ? `${count} times` : undefined,
          ]
            .filter(Boolean)
            .join(' · '),
        )}
      </span>
      {excerpt !== undefined && (
        <q class="excerpt">
          <MarkedLine text={excerpt} marks={ranges.map((range) => ({ ...range, kind: 'match' }))} />
        </q>
      )}
    </li>
  );
}
