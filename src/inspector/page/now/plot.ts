import uPlot from 'uplot';
import { formatCount } from '../format.ts';
import type { Series } from './series.ts';
import { timeLabel } from './time-label.ts';
import { timeRange } from './time-range.ts';

interface Options {
  readonly series: readonly Series[];
  readonly kind: 'bars' | 'lines';
  readonly format: (value: number) => string;
  readonly data: uPlot.AlignedData;
}

/** At a text size of 16 pixels, as everything here. */
const height = 144;
const minuteS = 60;
const hourS = 3600;
const dayS = 24 * hourS;
/** Between the marks of the time axis: nothing here is measured by the second. */
const timeSteps = [
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * minuteS),
  ...[1, 2, 3, 4, 6, 12].map((hours) => hours * hourS),
  ...[1, 2, 3, 4, 5, 7, 10, 14, 30].map((days) => days * dayS),
];

const wholeSteps = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

export function createPlot(host: HTMLElement, { series, kind, format, data }: Options): uPlot {
  const color = (name: string) => colorOf(host, name);
  const font = `${getComputedStyle(host).fontSize} system-ui, sans-serif`;
  const scale = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const axis = {
    stroke: color('--text-quiet'),
    font,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  const drawn = (kind === 'bars' ? [...series].reverse() : series).map((one) => ({
    label: one.name,
    stroke: color(one.color),
    width: kind === 'bars' ? 0 : 1.5,
    ...(kind === 'bars' && {
      fill: color(one.color),
      paths: uPlot.paths.bars?.({ size: [0.8, 24] }) as uPlot.Series.PathBuilder,
    }),
    points: { show: kind === 'lines', size: 4 },
  }));
  return new uPlot(
    {
      width: host.clientWidth || 300,
      height: height * scale,
      // Half a label on the right, which would be cut off otherwise.
      padding: [8, 20 * scale, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { range: (plot) => timeRange(plot.data[0]) },
        y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
      },
      axes: [
        {
          ...axis,
          size: 28 * scale,
          space: 50 * scale,
          incrs: timeSteps,
          values: (plot, splits) => splits.map((seconds) => timeLabel(seconds, spanOf(plot.data[0]))),
        },
        {
          ...axis,
          size: 52 * scale,
          space: 30 * scale,
          // Half a request is none.
          ...(format === formatCount && { incrs: wholeSteps }),
          values: (_plot, splits) => splits.map((value) => (value === 0 ? '0' : format(value))),
        },
      ],
      series: [{}, ...drawn],
    },
    data,
    host,
  );
}

function spanOf(times: ArrayLike<number>): number {
  return (times[times.length - 1] ?? 0) - (times[0] ?? 0);
}

/** A canvas can't use the stylesheet's variables, so the colour is read from an element. */
function colorOf(host: HTMLElement, name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  host.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
