import { expect, test } from 'vitest';
import { startInspected } from '../kit/inspector.ts';

test('records that are none of this version are left out, and those beside them shown', async () => {
  const now = {
    time: new Date().toISOString(),
    request_id: 'req_new',
    method: 'GET',
    path: '/',
    status: 404,
  };
  const old = { ...now, time: new Date(Date.now() - 7_200_000).toISOString(), request_id: 'req_old' };
  const odd = [now, old].flatMap((each) => [
    { ...each, request_id: `${each.request_id}_1`, rules: {} },
    { ...each, request_id: `${each.request_id}_2`, rules: [null] },
    { ...each, request_id: `${each.request_id}_3`, path: 5 },
    { ...each, request_id: `${each.request_id}_4`, usage: 'much' },
  ]);
  const lines = [old, ...odd, now].map((each) => `${JSON.stringify(each)}\n`).join('');

  const gateway = await startInspected('plants: { store: { enabled: false } }', {
    files: { 'records.jsonl': lines },
  });

  await expect
    .poll(async () => ((await gateway.rows()) ?? []).map(({ id }) => id))
    .toEqual(['req_new', 'req_old']);
});
