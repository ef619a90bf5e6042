import { formatCount, formatTick } from '../format.ts';

export interface Series {
  readonly name: string;
  /** A colour of the stylesheet, such as `--series-1`. */
  readonly color: string;
  readonly values: readonly number[];
}

interface Properties {
  readonly title: string;
  /** What the chart shows, in a sentence: its name for screen readers. */
  readonly summary: string;
  readonly times: readonly string[];
  readonly series: readonly Series[];
  /** Stacked bars by default, or a dash for each value. */
  readonly kind?: 'bars' | 'dashes';
  /** A count by default. */
  readonly format?: (value: number) => string;
}

/** One small chart of values over time. Its scale is the largest value; of nothing there is none. */
export function Chart({ title, summary, times, series, kind = 'bars', format = formatCount }: Properties) {
  const sums = times.map((_, at) => series.map(({ values }) => values[at] ?? 0));
  const tops = sums.map((values) =>
    kind === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values),
  );
  const most = Math.max(0, ...tops);
  const [first = '', last = ''] = [times[0], times.at(-1)];
  const spanMs = Date.parse(last) - Date.parse(first);
  return (
    <figure class="chart">
      <figcaption>
        <b>{title}</b>
        <span class="legend">
          {series.map(({ name, color }) => (
            <span key={name}>
              <i style={{ background: `var(${color})` }} />
              <bdi>{name}</bdi>
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot" role="img" aria-label={summary}>
        {most === 0 ? (
          <p class="note">None in this time.</p>
        ) : (
          <>
            <span>{format(most)}</span>
            <svg viewBox={`0 0 ${times.length} 1`} preserveAspectRatio="none">
              {sums.map((values, at) => (
                <Values key={times[at]} values={values} most={most} x={at} kind={kind} series={series} />
              ))}
            </svg>
            <span>
              {formatTick(first, spanMs)} <span>{spanMs > 0 && formatTick(last, spanMs)}</span>
            </span>
          </>
        )}
      </div>
    </figure>
  );
}

interface ValuesProperties extends Required<Pick<Properties, 'kind' | 'series'>> {
  readonly values: readonly number[];
  readonly most: number;
  readonly x: number;
}

/** The values of one time; a chart is one unit high. */
function Values({ values, most, x, kind, series }: ValuesProperties) {
  let below = 0;
  return (
    <>
      {values.map((value, index) => {
        if (value === 0) return null;
        const top = (below + value) / most;
        const height = kind === 'bars' ? value / most : 0.025;
        if (kind === 'bars') below += value;
        const { name, color = '' } = series[index] ?? {};
        return (
          <rect
            key={name}
            x={x + 0.1}
            y={1 - top}
            width={0.8}
            height={height}
            style={{ fill: `var(${color})` }}
          />
        );
      })}
    </>
  );
}
