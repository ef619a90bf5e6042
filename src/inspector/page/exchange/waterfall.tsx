import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { formatDuration } from '../format.ts';
import { parts } from '../list/time-bar.tsx';

const explanations = {
  read: 'until the body had arrived',
  decide: 'parsing and rules',
  queue: 'waiting for a slot at the provider',
  connect: 'until it was being sent, including earlier attempts',
  first_byte: 'waiting for the first byte',
  stream: 'from the first byte to the end',
} as const;

export function Waterfall({ row }: { readonly row: ExchangeRow }) {
  const { times, total_ms: totalMs } = row;
  if (times === undefined || totalMs === undefined) return <p class="note">Known when it has ended.</p>;
  let startMs = 0;
  const steps = parts.flatMap((part) => {
    const ms = times[part.name];
    if (ms === undefined) return [];
    const step = { ...part, ms, startMs };
    startMs += ms;
    return [step];
  });
  const percent = (ms: number) => `${(ms / Math.max(startMs, 0.001)) * 100}%`;
  return (
    <table class="waterfall">
      <tbody>
        {steps.map(({ name, title, background, ms, startMs }) => (
          <tr key={name} title={explanations[name]}>
            <th scope="row">{title}</th>
            <td class="track">
              <span
                class="step"
                style={{ background, marginInlineStart: percent(startMs), width: percent(ms) }}
              />
            </td>
            <td class="number">{formatDuration(ms)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">total</th>
          <td />
          <td class="number">{formatDuration(totalMs)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
