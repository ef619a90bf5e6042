type Schema = Readonly<Record<string, unknown>>;

/** A number within minimum, maximum, their exclusive forms and multipleOf; 1 by default. */
export function buildNumber(schema: Schema, variant: number): number {
  const isInteger = [schema.type].flat().includes('integer');
  const step = bound(schema.multipleOf, isInteger ? 1 : 0);
  const above = bound(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY);
  const below = bound(schema.exclusiveMaximum, Number.POSITIVE_INFINITY);
  const lowest = Math.max(bound(schema.minimum, Number.NEGATIVE_INFINITY), above);
  const highest = Math.min(bound(schema.maximum, Number.POSITIVE_INFINITY), below);
  const fits = (value: number) =>
    Number.isFinite(value) && value >= lowest && value <= highest && value !== above && value !== below;

  const unit = step === 0 ? 1 : step;
  const up = step === 0 ? lowest : Math.ceil(lowest / step) * step;
  const down = step === 0 ? highest : Math.floor(highest / step) * step;
  const first = [unit, up, up + unit, down, down - unit].find(fits);
  const between = lowest + (highest - lowest) / (variant + 2);
  const others = first === undefined ? [] : [first + variant * unit, first - variant * unit];
  return others.find(fits) ?? (step === 0 && fits(between) ? between : (first ?? unit));
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
