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
  /** A count by default. */
  readonly format?: (value: number) => string;
}

/** One small chart of values over time, as stacked bars. Its scale is the largest value; of nothing there is none. */
export function Chart({ title, summary, times, series, format = formatCount }: Properties) {
  const sums = times.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const most = Math.max(0, ...sums);
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
              {times.map((time, at) => (
                <Bar key={time} x={at} unit={1 / most} series={series} />
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

interface BarProperties extends Pick<Properties, 'series'> {
  readonly x: number;
  /** The height of 1; a chart is one unit high. */
  readonly unit: number;
}

function Bar({ x, unit, series }: BarProperties) {
  let top = 1;
  return (
    <>
      {series.map(({ name, color, values }) => {
        const height = (values[x] ?? 0) * unit;
        top -= height;
        const style = { fill: `var(${color})` };
        return (
          height > 0 && <rect key={name} x={x + 0.1} y={top} width={0.8} height={height} style={style} />
        );
      })}
    </>
  );
}
