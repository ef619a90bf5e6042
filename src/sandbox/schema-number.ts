type Schema = Readonly<Record<string, unknown>>;

/** A number within minimum, maximum, their exclusive forms and multipleOf; 1 where nothing is said. */
export function buildNumber(schema: Schema, variant: number): number {
  const isInteger =
    schema.type === 'integer' || (Array.isArray(schema.type) && schema.type.includes('integer'));
  const factor = readNumber(schema.multipleOf);
  const step = factor ?? (isInteger ? 1 : undefined);
  return step === undefined ? pickReal(schema, variant) : pickMultiple(schema, step, variant);
}

function pickMultiple(schema: Schema, step: number, variant: number): number {
  const above = readNumber(schema.exclusiveMinimum);
  const below = readNumber(schema.exclusiveMaximum);
  const lowest = Math.max(
    Math.ceil((readNumber(schema.minimum) ?? Number.NEGATIVE_INFINITY) / step),
    above === undefined ? Number.NEGATIVE_INFINITY : Math.floor(above / step) + 1,
  );
  const highest = Math.min(
    Math.floor((readNumber(schema.maximum) ?? Number.POSITIVE_INFINITY) / step),
    below === undefined ? Number.POSITIVE_INFINITY : Math.ceil(below / step) - 1,
  );
  const first = Math.max(lowest, Math.min(Math.max(1, lowest), highest - variant));
  return Math.min(first + variant, highest) * step;
}

function pickReal(schema: Schema, variant: number): number {
  const above = readNumber(schema.exclusiveMinimum);
  const below = readNumber(schema.exclusiveMaximum);
  const lowest = Math.max(
    readNumber(schema.minimum) ?? Number.NEGATIVE_INFINITY,
    above ?? Number.NEGATIVE_INFINITY,
  );
  const highest = Math.min(
    readNumber(schema.maximum) ?? Number.POSITIVE_INFINITY,
    below ?? Number.POSITIVE_INFINITY,
  );
  const isInside = lowest < 1 && 1 + variant < highest;
  if (isInside) return 1 + variant;
  if (lowest === Number.NEGATIVE_INFINITY) return highest - 1 - variant;
  if (highest === Number.POSITIVE_INFINITY) return lowest + 1 + variant;
  // Strictly between the bounds, so it does not matter which of them are exclusive.
  return lowest + (highest - lowest) / (variant + 2);
}

function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
