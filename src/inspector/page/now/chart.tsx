import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Series } from './series.ts';

interface Properties {
  readonly title: string;
  /** What the chart shows, in a sentence: its name for screen readers. */
  readonly summary: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly kind: 'bars' | 'lines';
  readonly format: (value: number) => string;
}

/** One small chart of values over time, drawn by uPlot, which main.tsx loads after the list. */
export function Chart({ title, summary, times, series, kind, format }: Properties) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = [times, ...stack(series, kind)] as unknown as uPlot.AlignedData; // null is "nothing" there too
  // Axes of nothing would be made up.
  const isEmpty = series.every(({ values }) => values.every((value) => !value));
  const latest = useRef(data);
  latest.current = data;
  const shape = series.map(({ name }) => name).join('\n');
  useEffect(() => {
    let isGone = false;
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const draw = async () => {
      // Missing if the gateway was gone before the page could load it.
      const module = await import('./plot.ts').catch(() => undefined);
      if (isGone || host.current === null || module === undefined) return;
      plot.current?.destroy();
      plot.current = undefined;
      if (isEmpty) return;
      plot.current = module.createPlot(host.current, { series, kind, format, data: latest.current });
    };
    void draw();
    const redraw = () => void draw();
    scheme.addEventListener('change', redraw);
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0) plot.current?.setSize({ width, height: plot.current.height });
    });
    if (host.current !== null) observer.observe(host.current);
    return () => {
      isGone = true;
      observer.disconnect();
      scheme.removeEventListener('change', redraw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape, kind, isEmpty]);
  useEffect(() => plot.current?.setData(latest.current));
  return (
    <figure class={isEmpty ? 'chart empty-chart' : 'chart'}>
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
      <div ref={host} class="plot" role="img" aria-label={summary} />
      {isEmpty && <p class="note">None in this time.</p>}
    </figure>
  );
}

/** Stacks bars: each series becomes the sum of itself and those before it, and the first is drawn last, in front. */
function stack(series: readonly Series[], kind: 'bars' | 'lines'): readonly (readonly (number | null)[])[] {
  if (kind === 'lines') return series.map(({ values }) => values);
  const sums = series.map(({ values }, index) =>
    values.map((_, at) => series.slice(0, index + 1).reduce((sum, one) => sum + (one.values[at] ?? 0), 0)),
  );
  return sums.reverse();
}
