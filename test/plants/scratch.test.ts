import { test } from 'vitest';
import { openDatabase } from '../../src/plants/database/open.ts';
import { migrate } from '../../src/plants/database/migrations.ts';
import { openFeed } from '../../src/plants/feed.ts';
import { createCatalogue } from '../../src/plants/catalogue.ts';
test('x', async () => {
  const db = await openDatabase(process.env.DB ?? 'sqlite:/tmp/x.sqlite');
  await migrate(db, async () => 1);
  const feed = await openFeed(db, { onEvent: (e) => console.log(JSON.stringify(e)), onGap: () => console.log('gap') });
  const c = createCatalogue(db, feed, Date.now);
  const p = await c.add({ name: 'x', status: 'available', tags: ['A', 'é', 'A'] });
  console.log(await c.update({ target: { id: p.id }, status: 'sold', category: 'q', tags: ['leafy', 'zz'] }));
  console.log(await c.search({ tags: ['leafy', 'green'], match: 'any', limit: 3, after: 0 }));
  console.log(await c.search({ tags: ['leafy', 'GREEN'], match: 'all', limit: 3, after: 1, status: 'available' }));
  console.log(await c.search({ tags: ['leafy', 'GREEN'], match: 'any', limit: 3, after: 1, status: 'sold' }));
  console.log((await c.search({ tags: [], match: 'any', limit: 3, after: 1, status: 'sold' })).rows.length);
  await new Promise((r) => setTimeout(r, 200));
  await feed.close(); await db.queries.destroy();
});
