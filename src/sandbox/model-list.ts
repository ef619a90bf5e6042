import { createdSeconds } from './exchange.ts';
import { isListed, sandboxModels, unknownModel } from './models.ts';

/** The body of GET /v1/models; one list that the SDKs of both families read. */
export function modelList(): unknown {
  const data = sandboxModels.map(({ id }) => toEntry(id));
  return {
    object: 'list',
    data,
    has_more: false,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

/** The body of GET /v1/models/{id}. Throws 404 for a name that the list does not have. */
export function modelEntry(id: string): unknown {
  if (!isListed(id)) throw unknownModel('there is no such model');
  return toEntry(id);
}

function toEntry(id: string) {
  return {
    id,
    object: 'model',
    created: createdSeconds,
    owned_by: 'sandbox',
    type: 'model',
    display_name: id,
    created_at: new Date(createdSeconds * 1_000).toISOString(),
  };
}
