import { expect, test } from 'vitest';
import { ExchangeMetrics } from '../../../src/record/metrics/exchange-metrics.ts';
import type { MetricData } from '../../../src/record/metrics/families.ts';
import { mergeCounts, metricsText } from '../../../src/record/metrics/metrics-text.ts';
import { answered } from '../answered.ts';

function lines(text: string, name: string): string[] {
  return text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

async function textOf(...metrics: readonly (readonly MetricData[])[]): Promise<string> {
  return metricsText(metrics);
}

test('counts times, tokens and cost of an answered stream', async () => {
  const metrics = new ExchangeMetrics((model) => model);

  metrics.ended({ record: answered });
  metrics.ended({ record: answered });

  const text = await textOf(metrics.read());
  const labels = 'gen_ai_operation_name="chat",gen_ai_provider_name="anthropic",gen_ai_request_model="fast"';
  expect(lines(text, 'gen_ai_server_request_duration_seconds_sum')).toEqual([
    `gen_ai_server_request_duration_seconds_sum{${labels},error_type=""} 2.4`,
  ]);
  expect(lines(text, 'gen_ai_server_time_to_first_token_seconds_bucket').slice(8, 10)).toEqual([
    `gen_ai_server_time_to_first_token_seconds_bucket{${labels},le="0.25"} 2`,
    `gen_ai_server_time_to_first_token_seconds_bucket{${labels},le="0.5"} 2`,
  ]);
  expect(lines(text, 'gen_ai_server_time_per_output_token_seconds_sum')).toEqual([
    `gen_ai_server_time_per_output_token_seconds_sum{${labels}} 0.2`,
  ]);
  expect(lines(text, 'gen_ai_client_token_usage_sum')).toEqual([
    `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"} 200`,
    `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="output"} 22`,
  ]);
  expect(lines(text, 'gateway_tokens_total')).toEqual([
    'gateway_tokens_total{project="shop",provider="anthropic",model="fast",type="input"} 200',
    'gateway_tokens_total{project="shop",provider="anthropic",model="fast",type="output"} 22',
    'gateway_tokens_total{project="shop",provider="anthropic",model="fast",type="cache_read"} 120',
    'gateway_tokens_total{project="shop",provider="anthropic",model="fast",type="cache_write"} 10',
    'gateway_tokens_total{project="shop",provider="anthropic",model="fast",type="reasoning"} 6',
  ]);
  expect(lines(text, 'gateway_cost_usd_total')).toEqual([
    'gateway_cost_usd_total{project="shop",provider="anthropic",model="fast"} 0.5',
  ]);
  expect(lines(text, 'gateway_provider_requests_total')).toEqual([
    'gateway_provider_requests_total{provider="anthropic"} 4',
  ]);
});

test('an answer that is no stream, or a cut one, says nothing about its tokens in time', async () => {
  const metrics = new ExchangeMetrics((model) => model);

  metrics.ended({ record: { ...answered, stream: false } });
  metrics.ended({ record: { ...answered, outcome: 'failed', reason: 'provider.timeout', status: 200 } });

  const text = await textOf(metrics.read());
  expect(lines(text, 'gen_ai_client_token_usage_count')).toHaveLength(2);
  expect(lines(text, 'gen_ai_server_time_to_first_token_seconds_count')).toEqual([]);
  expect(lines(text, 'gateway_failures_total')).toEqual([
    'gateway_failures_total{provider="anthropic",reason="provider.timeout"} 1',
  ]);
});

test('counts refusals by reason, rules by what they would do, and limits in dry run', async () => {
  const metrics = new ExchangeMetrics((model) => model);
  const { provider, target_model, usage, ...unsent } = answered;

  metrics.ended({
    record: {
      ...unsent,
      outcome: 'refused',
      status: 403,
      reason: 'content.secret',
      decision: 'block',
      rules: [
        { id: 'no-secrets', action: 'block', mode: 'enforce', count: 3 },
        { id: 'no-emails', action: 'redact', mode: 'monitor', count: 1 },
      ],
    },
  });
  metrics.ended({ record: { ...unsent, would_limit: ['project shop usd_per_day'] } });
  metrics.ended({
    record: {
      time: '',
      request_id: 'req_2',
      method: 'POST',
      path: '/v1/messages',
      status: 401,
      outcome: 'refused',
      reason: 'key.missing',
      bytes_in: 0,
      bytes_out: 0,
      total_ms: 1,
      config: '',
    },
  });

  const text = await textOf(metrics.read());
  expect(lines(text, 'gateway_refusals_total')).toEqual([
    'gateway_refusals_total{project="shop",reason="content.secret"} 1',
    'gateway_refusals_total{project="",reason="key.missing"} 1',
  ]);
  expect(lines(text, 'gateway_policy_rule_matches_total')).toEqual([
    'gateway_policy_rule_matches_total{rule="no-secrets",action="block",mode="enforce"} 1',
    'gateway_policy_rule_matches_total{rule="no-emails",action="redact",mode="monitor"} 1',
  ]);
  expect(lines(text, 'gateway_policy_decisions_total')).toEqual([
    'gateway_policy_decisions_total{project="shop",decision="block"} 1',
    'gateway_policy_decisions_total{project="shop",decision="allow"} 1',
  ]);
  expect(lines(text, 'gateway_monitored_limit_hits_total')).toEqual([
    'gateway_monitored_limit_hits_total{limit="project shop usd_per_day"} 1',
  ]);
  expect(text).not.toContain('gen_ai');
});

test('sums of several processes are added, and stay when one of them is gone', async () => {
  const [one, other] = [new ExchangeMetrics((model) => model), new ExchangeMetrics((model) => model)];
  one.ended({ record: answered });
  other.ended({ record: answered });
  other.ended({ record: answered });

  const together = await textOf(one.read(), other.read());
  const ended = await mergeCounts([other.read()]);
  const later = await textOf(one.read(), ended);

  expect(lines(together, 'gateway_provider_requests_total')).toEqual([
    'gateway_provider_requests_total{provider="anthropic"} 6',
  ]);
  expect(later.split('\n').toSorted()).toEqual(together.split('\n').toSorted());
});

test('whatever clients ask for, there are no more series than before', async () => {
  const known = new Set(['fast']);
  const metrics = new ExchangeMetrics((model) => (known.has(model) ? model : 'other'));
  const series = async () => (await textOf(metrics.read())).split('\n').length;
  const rubbish = (i: number) => `"\n\\{}=,${'x'.repeat(i % 300)}${i}\u{1f600}`;
  metrics.ended({ record: { ...answered, model: 'unknown' } });
  const before = await series();

  for (let i = 0; i < 20_000; i += 1) {
    metrics.ended({
      record: {
        ...answered,
        model: rubbish(i),
        path: rubbish(i),
        method: rubbish(i),
        key: rubbish(i),
      },
    });
  }

  expect(await series()).toBe(before);
});
