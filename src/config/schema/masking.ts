import type { Settings } from './schema.ts';

/** The settings as they may be shown and hashed: keys and passwords are replaced by `***`. */
export function withoutSecrets(settings: Settings): Settings {
  return {
    ...settings,
    state: withoutPassword(settings.state),
    records: { ...settings.records, ledger_database: maskNullable(settings.records.ledger_database) },
    plants: {
      ...settings.plants,
      store: { ...settings.plants.store, database: maskNullable(settings.plants.store.database) },
    },
    providers: mapValues(settings.providers ?? {}, (provider) => ({
      ...provider,
      ...(provider.api_key !== undefined && { api_key: '***' }),
      ...(provider.proxy !== undefined && { proxy: withoutPassword(provider.proxy) }),
    })),
    masking: { secret: settings.masking.secret === null ? null : '***' },
    projects: mapValues(settings.projects ?? {}, (project) => ({
      ...project,
      keys: project.keys.map((key) => (key.value === undefined ? key : { ...key, value: '***' })),
    })),
  };
}

function maskNullable(url: string | null): string | null {
  return url === null ? null : withoutPassword(url);
}

function withoutPassword(url: string): string {
  return url.replace(/:\/\/[^/]*@/, '://***@');
}

function mapValues<V>(record: Readonly<Record<string, V>>, change: (value: V) => V): Record<string, V> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
