import type { UserSessions } from '../accounts/sessions.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { PlantQuery, PlantRow } from '../catalogue/search.ts';
import { parseId, parseNewPlant, parsePlantChange } from '../plant/plant.ts';
import { requireSessionToChange } from './identity.ts';
import { type Handlers, jsonAnswer, type OperationRequest, type OperationResponse } from './operation.ts';
import { parseQuery, parseSearch, parseTagSearch, readPlantJson } from './request.ts';

interface Parts {
  readonly catalogue: Catalogue;
  readonly sessions: UserSessions;
}

export function plantHandlers({ catalogue, sessions }: Parts) {
  const search = async (options: PlantQuery, call: OperationRequest): Promise<OperationResponse> => {
    const { rows, hasMore } = await catalogue.search(options);
    const last = rows.at(-1);
    const headers = hasMore && last !== undefined ? { link: nextLink(call, last.id) } : {};
    return { type: 'application/json', body: `[${rows.map(toJson).join(',')}]`, headers };
  };
  return {
    addPlant: async ({ request, response }) => {
      await requireSessionToChange(request, sessions);
      return jsonAnswer(await catalogue.add(parseNewPlant(await readPlantJson(request, response))));
    },
    updatePlant: async ({ request, response }) => {
      await requireSessionToChange(request, sessions);
      return jsonAnswer(await catalogue.update(parsePlantChange(await readPlantJson(request, response))));
    },
    searchPlantsByStatus: (call) => search(parseSearch(parseQuery(call.query)), call),
    searchPlantsByTags: (call) => search(parseTagSearch(parseQuery(call.query)), call),
    getPlantById: async ({ parameter }) => jsonAnswer(await catalogue.get(parsePlantId(parameter))),
    deletePlant: async ({ request, parameter }) => {
      await requireSessionToChange(request, sessions);
      return jsonAnswer(await catalogue.remove(parsePlantId(parameter)));
    },
  } satisfies Partial<Handlers>;
}

function parsePlantId(text: string): number {
  return parseId('plantId', /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined);
}

/** Tags are stored as JSON and sent as they are: a page of plants is not parsed only to be serialized again. */
function toJson({ id, name, category, status, tags }: PlantRow): string {
  const kind = category === null ? '' : `,"category":${JSON.stringify(category)}`;
  return `{"id":${id},"name":${JSON.stringify(name)}${kind},"status":"${status}","tags":${tags}}`;
}

/** The same URL with another `after`; the rest of the query is unchanged. */
function nextLink({ request, query }: OperationRequest, after: number): string {
  const [path = ''] = request.target.split('?', 1);
  const kept = query.split('&').filter((part) => part !== '' && !isAfter(part));
  const next = [...kept, `after=${after}`].join('&');
  return `<${encodeLoneCharacters(path)}?${encodeLoneCharacters(next)}>; rel="next"`;
}

function isAfter(part: string): boolean {
  return decodeURIComponent(part.split('=', 1)[0] ?? '') === 'after';
}

// Characters allowed in a request line but not between angle brackets in a header.
function encodeLoneCharacters(text: string): string {
  return text.replace(/[^\x21-\x7e]|[<>"]/g, (character) => encodeURIComponent(character));
}
