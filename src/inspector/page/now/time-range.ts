/**
 * The seconds that the time axis covers: half a step more on both sides, so that the first and last bars are not cut
 * off. From the data, because uPlot makes a day of a single minute.
 */
export function timeRange(times: ArrayLike<number>): [number, number] {
  const first = times[0] ?? 0;
  const last = times[times.length - 1] ?? first;
  const half = times.length > 1 ? (last - first) / (times.length - 1) / 2 : 30;
  return [first - half, last + half];
}
