import { Liquid, LiquidError } from 'liquidjs';
import { isFields } from '../../../dialects/fields.ts';
import { GatewayError } from '../../../errors.ts';

/** Renders a Liquid template for a value, or for each entry of a list. Throws usage.invalid if it is invalid. */
export function templateTransform(template: string) {
  const liquid = createLiquid();
  const parsed = orWrong('usage.invalid', () => liquid.parse(template));
  const fill = (value: unknown) => {
    const scope = isFields(value) ? value : { value };
    return `${orWrong('output.failed', () => liquid.renderSync(parsed, scope))}\n`;
  };
  return {
    apply: async (json: string) => documentsOf(json).map(fill).join(''),
    close: async () => undefined,
  };
}

/** For templates that may be a stranger's: without access to files, and bounded in time and memory. */
export function createLiquid(): Liquid {
  return new Liquid({
    strictVariables: true,
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    templates: {},
    memoryLimit: 100_000_000,
    renderLimit: 5_000,
  });
}

/** The entries of a list, or the value; or all documents, if there are several, one per line. */
function documentsOf(json: string): readonly unknown[] {
  const lines = json.trim().split('\n');
  const values: unknown[] = isOneDocument(json) ? [JSON.parse(json)] : lines.map((line) => JSON.parse(line));
  return values.length === 1 && Array.isArray(values[0]) ? values[0] : values;
}

function isOneDocument(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false; // several
  }
}

function orWrong<Value>(code: 'usage.invalid' | 'output.failed', work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (!LiquidError.is(error)) throw error;
    const message = error.message.replace(/, line:\d+, col:(\d+)$/, ', column $1');
    throw new GatewayError(code, `--output-template: ${message}`, { param: 'output-template' });
  }
}
