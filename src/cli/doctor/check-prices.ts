import type { ModelEntry } from '../../config/build/models.ts';
import type { ProviderConfig } from '../../config/build/providers.ts';
import type { Config } from '../../config/config.ts';
import { isLoopbackHost } from '../../lib/loopback.ts';
import { builtInDate, knownModelFinder } from '../../limits/known-models.ts';
import { about, type Diagnosis } from './finding.ts';

const { ok, warning } = about('prices');
const dayMs = 86_400_000;
/** Vendors bring new models, and change prices, every few months. */
const oldDays = 60;

const remedy =
  '"gateway models update" with a file or a URL takes over newer prices, models[].pricing sets those of one entry';

/** How old the prices are, and which configured models have none: under a budget these are refused. */
export function checkPrices(config: Config, nowMs: number): readonly Diagnosis[] {
  const { modelTable: table } = config.source;
  const date = table?.retrieved ?? builtInDate;
  const days = Math.max(0, Math.floor((nowMs - Date.parse(date)) / dayMs));
  const from =
    table === undefined
      ? `the prices that are built in are of ${date}`
      : `${Object.keys(table.models).length} prices from ${table.source} were taken over on ${date}`;
  const age = days === 0 ? 'today' : days === 1 ? 'yesterday' : `${days} days ago`;
  const hint = days > oldDays ? '; "gateway models update" takes over newer ones' : '';
  const names = unpricedModels(config);
  return [ok(`${from}, ${age}${hint}`), ...(names.length === 0 ? [] : [unpriced(names, config)])];
}

function unpriced(names: readonly string[], { limits }: Config): Diagnosis {
  const list =
    names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
  const hasBudget = limits.some(({ settings }) =>
    Object.keys(settings).some((name) => name.startsWith('usd_')),
  );
  if (hasBudget) return warning(`no price is known for ${list}, which budgets refuse`, remedy);
  return ok(`no price is known for ${list}: their requests count as unpriced`);
}

/** Those that are named: what a pattern will be asked for is not known. */
function unpricedModels({ models, providers, source }: Config): readonly string[] {
  const findKnown = knownModelFinder(source.modelTable);
  const names = models.flatMap((entry) =>
    entry.targets.flatMap(({ provider, model = entry.isPattern ? undefined : entry.match }) => {
      const host = providers.get(provider);
      if (model === undefined || host === undefined || hasPrice(entry, host)) return [];
      return findKnown(model) === undefined ? [model] : [];
    }),
  );
  return [...new Set(names)];
}

/** Whether it costs what the file says, or nothing. */
function hasPrice({ pricing }: ModelEntry, { dialect, credentials, baseUrl }: ProviderConfig): boolean {
  if (pricing !== undefined || dialect === 'sandbox' || credentials === 'client') return true;
  return baseUrl !== undefined && isLoopbackHost(new URL(baseUrl).hostname);
}
