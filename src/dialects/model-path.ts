import { GatewayError } from '../errors.ts';
import type { Method } from './dialect.ts';

/** Stands for a model's name in a path. */
export const modelMark = '{model}';

export function hasModel({ path }: { readonly path: string }): boolean {
  return path.includes(modelMark);
}

/** The request target of a method for a model. Throws request.field for a name that would be another path. */
export function targetOf(method: Method, model: string): string {
  if (!hasModel(method)) return method.query === undefined ? method.path : `${method.path}?${method.query}`;
  checkSegments(model);
  return fillModel(method, model);
}

/**
 * Throws request.field for a model's name that would be another path: clients choose names, and hosts resolve dots and empty
 * segments, some of them after decoding.
 */
export function checkSegments(model: string): void {
  if (!model.split('/').some((segment) => /^\.{0,2}$/.test(segment))) return;
  throw new GatewayError('request.field', 'the model has a name that cannot stand in a path', {
    param: '/model',
  });
}

/** The same for any name: an endpoint of the gateway, which doesn't resolve paths. */
export function fillModel({ path, query }: Method, model: string): string {
  const segments = model.split('/').map((segment) => encodeURIComponent(segment).replaceAll('%3A', ':'));
  const named = path.replace(modelMark, () => segments.join('/'));
  return query === undefined ? named : `${named}?${query}`;
}

/** What has a path, and the model's name if that is in it. */
interface Found<Item> {
  readonly item: Item;
  /** As it is there, still encoded. */
  readonly model?: string;
}

/** Finds items by request targets without their query: by the exact path, or by a pattern with the model's name in it. */
export function createPathFinder<Item extends { readonly path: string }>(
  items: readonly Item[],
): (path: string) => Found<Item> | undefined {
  const exact = new Map(items.filter((item) => !hasModel(item)).map((item) => [item.path, item]));
  const patterns = items.filter(hasModel).map((item) => {
    const [start = '', end = ''] = item.path.split(modelMark);
    return { item, start, end };
  });
  return (path) => {
    const item = exact.get(path);
    if (item !== undefined) return { item };
    const found = patterns.find(
      ({ start, end }) =>
        path.startsWith(start) && path.endsWith(end) && path.length > start.length + end.length,
    );
    if (found === undefined) return undefined;
    const model = path.slice(found.start.length, path.length - found.end.length);
    return { item: found.item, model };
  };
}
