// Samples become medians and ratios. Ratios are taken pair by pair, of samples that stood next to each other in
// time, so that what slowed both down cancels out.

const peers = ['nginx', 'bare'];

/** One row for each scenario and contender. */
export function summarize(samples, fields) {
  return Object.entries(samples).flatMap(([scenario, byContender]) =>
    Object.entries(byContender).map(([contender, of]) => {
      const row = { scenario, contender };
      for (const field of fields) row[field] = median(of.map((sample) => sample[field]));
      row.foreign = median(of.map((sample) => sample.foreign));
      row.failed = of.reduce((sum, { failed }) => sum + failed, 0);
      for (const peer of peers) {
        const other = byContender[peer];
        if (other === undefined) continue;
        row[`cpu_x_${peer}`] = ratio(of, other, 'cpu');
        for (const field of ['rate', 'p50'])
          if (fields.includes(field)) row[`${field}_x_${peer}`] = ratio(of, other, field);
      }
      // Of the same variant, of the other checkout.
      const before = byContender[contender.replace(/^gateway/, 'before')];
      if (before !== undefined) row.cpu_x_before = ratio(of, before, 'cpu');
      return row;
    }),
  );
}

export function median(values) {
  const known = values.filter((value) => Number.isFinite(value)).sort((one, other) => one - other);
  if (known.length === 0) return undefined;
  const middle = known.length >> 1;
  return known.length % 2 === 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
}

/** Of samples that stood next to each other in time. */
export function ratio(samples, others, field) {
  return median(samples.map((sample, round) => sample[field] / others[round]?.[field]));
}
