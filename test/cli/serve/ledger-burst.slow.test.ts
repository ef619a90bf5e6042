import { expect, test } from 'vitest';
import { emptyDirectory } from '../../kit/command.ts';
import {
  answering,
  ask,
  body,
  configure,
  type Gateway,
  maxima,
  query,
  serveIn,
  stop,
  withBudget,
} from './workers/serving.ts';

// What a request may use at most is what it uses.
const worst = maxima(body);
const budget = 50 * worst;

test.each([1, 2])(
  '400 requests at once never spend more than a budget for 50, nor after kill -9 in their midst (workers: %i)',
  async (workers) => {
    const how: { afterMs?: number } = {};
    const scripted = await answering(worst - 100, how);
    const home = emptyDirectory();
    const limits = `tokens_per_day: ${budget}`;
    configure(home, withBudget(scripted.url, { limits, workers }));
    const burst = (gateway: Gateway, count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          ask(gateway, body).then(
            async (response) => {
              await response.text();
              return response.status;
            },
            () => 0,
          ),
        ),
      );
    const granted = (statuses: readonly number[]) => statuses.filter((status) => status === 200).length;

    const first = await serveIn(home);
    const served = granted(await burst(first, 20));
    how.afterMs = 60_000;
    const asked = scripted.requests.length;
    const open = burst(first, 10);
    await expect.poll(() => scripted.requests.length).toBe(asked + 10);
    await stop(first, 'SIGKILL');
    await open;
    delete how.afterMs;

    const second = await serveIn(home);
    const again = granted(await burst(second, 400));
    await stop(second, 'SIGKILL');
    const third = await serveIn(home);
    const after = granted(await burst(third, 400));
    expect([served, again, after]).toEqual([20, 20, 0]);
    // What dead gateways left is moved once it is clear that they are dead.
    const spent = () =>
      query(
        home,
        `select sum(requests) as requests, sum(input_tokens + output_tokens) as tokens,
           (select count(*) from exchanges where outcome = 'unknown') as unknown from sums`,
      );
    // A worker outlives the process that was killed, and enters what was open by itself.
    const unknown = workers === 1 ? 10 : 0;
    await expect.poll(spent, { timeout: 60_000 }).toEqual([{ requests: 50, tokens: budget, unknown }]);
    await stop(third);
  },
  120_000,
);
