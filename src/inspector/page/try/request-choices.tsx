import type { PoliciesAnswer } from '../../contract/actions.ts';
import { visibleLine } from '../text/visible.ts';
import type { Scratch } from './use-scratch.ts';

interface Properties {
  readonly policies: PoliciesAnswer;
  readonly scratch: Scratch;
  onChange(part: Partial<Scratch>): void;
}

/** Whose request it is, and of which endpoint. */
export function RequestChoices({ policies, scratch, onChange }: Properties) {
  const isRemoved = scratch.key !== '' && !policies.keys.some(({ id }) => id === scratch.key);
  const endpoints = [...new Set([...policies.endpoints, scratch.endpoint])].filter((name) => name !== '');
  return (
    <>
      <select
        aria-label="Key"
        value={scratch.key}
        onChange={(event) => onChange({ key: event.currentTarget.value })}
      >
        <option value="">first key</option>
        {isRemoved && <option value={scratch.key}>{visibleLine(`${scratch.key} (removed)`)}</option>}
        {policies.keys.map(({ id, project }) => (
          <option key={id} value={id}>
            {visibleLine(`${id} (${project})`)}
          </option>
        ))}
      </select>
      <select
        aria-label="Endpoint"
        value={scratch.endpoint}
        onChange={(event) => onChange({ endpoint: event.currentTarget.value })}
      >
        <option value="">endpoint from the body</option>
        {endpoints.map((endpoint) => (
          <option key={endpoint} value={endpoint}>
            {visibleLine(endpoint)}
          </option>
        ))}
      </select>
    </>
  );
}
