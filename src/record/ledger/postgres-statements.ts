import { additions, summed, sumPruning } from './ledger-sums.ts';
import { bounded, exchangeColumns, intentColumns } from './postgres-schema.ts';
import { quarterMs } from './quarters.ts';

// Each is a single statement, hence one round trip and one transaction for any number of changes: rows are passed as JSON.

interface Statement {
  readonly name: string;
  readonly text: string;
}

const intents = Object.keys(intentColumns).join();
const exchanges = Object.keys(exchangeColumns).join();

function rowsOf(parameter: string, columns: Readonly<Record<string, string>>): string {
  const types = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  return `json_to_recordset(${parameter}::json) as each(${types.join()})`;
}

/** Adds rows of `added` to the sums, always in the same order, so that gateways can't deadlock. */
function sumUp(shard: string): string {
  return `insert into ledger_sums (quarter, shard, project, key_id, model, ${summed.join()})
    select started_ms / ${quarterMs}, ${shard}, project, key_id, model, count(*), sum(input_tokens),
      sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens), sum(reasoning_tokens),
      coalesce(sum(nano_usd), 0), sum(is_estimated), count(*) - count(nano_usd)
    from added group by 1, project, key_id, model order by 1, project, key_id, model
    on conflict (quarter, shard, project, key_id, model) do update set ${additions('ledger_sums')}`;
}

const returned =
  'returning started_ms, project, key_id, model, input_tokens, output_tokens, cache_read_tokens, \
cache_write_tokens, reasoning_tokens, nano_usd, is_estimated';

/** $1 new intents, $2 final rows, $3 ids of intents that are over, $4 owner, $5 shard; returns how many rows were new. */
export const commitChanges: Statement = {
  name: 'ledger commit',
  text: `with dropped as (delete from ledger_intents where request_id = any($3::text[])),
    begun as (
      insert into ledger_intents (${intents}, owner) select ${intents}, $4::text from ${rowsOf('$1', intentColumns)}
      on conflict (request_id) do nothing),
    added as (
      insert into ledger_exchanges (${exchanges}) select ${exchanges} from ${rowsOf('$2', exchangeColumns)}
      on conflict (request_id) do nothing ${returned}),
    counted as (${sumUp('$5::integer')})
    select count(*) as added from added`,
};

const amounts = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
];
const replaced = Object.keys(exchangeColumns).filter((column) => column !== 'request_id');

/**
 * $1 final rows, $2 shard: replaces rows that were settled as unknown while their gateway seemed dead, and corrects the
 * sums by the difference.
 */
export const correctRows: Statement = {
  name: 'ledger correct',
  text: `with fresh as (select * from ${rowsOf('$1', exchangeColumns)}),
    old as (
      select known.* from ledger_exchanges known join fresh using (request_id)
      where known.outcome = 'unknown' and fresh.outcome <> 'unknown' for update of known),
    corrected as (
      update ledger_exchanges known set ${replaced.map((column) => `${column} = fresh.${column}`).join()}
      from fresh join old using (request_id) where known.request_id = fresh.request_id
      returning known.started_ms / ${quarterMs} as quarter, known.project, known.key_id, known.model,
        ${amounts.map((column) => `known.${column} - old.${column} as ${column}`).join()},
        coalesce(known.nano_usd, 0) - coalesce(old.nano_usd, 0) as nano_usd,
        known.is_estimated - old.is_estimated as estimated,
        (known.nano_usd is null)::integer - (old.nano_usd is null)::integer as unpriced)
    insert into ledger_sums (quarter, shard, project, key_id, model, ${summed.join()})
    select quarter, $2::integer, project, key_id, model, 0, ${amounts.map((column) => `sum(${column})`).join()},
      sum(nano_usd), sum(estimated), sum(unpriced)
    from corrected group by quarter, project, key_id, model order by quarter, project, key_id, model
    on conflict (quarter, shard, project, key_id, model) do update set ${additions('ledger_sums')}`,
};

/** $1 shard, $2 seconds: turns intents of owners without a heartbeat for this long into rows, at their worst case. */
export const settleDead: Statement = {
  name: 'ledger settle',
  text: `with gone as (
      delete from ledger_intents open where not exists (
        select from ledger_owners where id = open.owner and seen_at > now() - make_interval(secs => $2))
      returning *),
    added as (
      insert into ledger_exchanges (${exchanges})
      select request_id, started_ms, project, key_id, endpoint, model, null, null, 0, 'unknown', null, null,
        input_tokens, output_tokens, 0, 0, 0, nano_usd, 1, null, null from gone
      on conflict (request_id) do nothing ${returned})
    ${sumUp('$1::integer')}`,
};

export const heartbeat: Statement = {
  name: 'ledger seen',
  text: `insert into ledger_owners values ($1, now()) on conflict (id) do update set seen_at = now()`,
};

/**
 * $1 a list of scope, name, first quarter of an hour, and the first one after: returns what was used, plus the worst case
 * of what is open. The tables are read once for each distinct scope and period, not once for each sum: PostgreSQL's
 * planner, which can't know how many sums are wanted, would do that.
 */
export const sumWanted = `
  with wanted as materialized (
    select * from rows from (json_to_recordset($1::json) as (scope text, name text, since bigint, until bigint))
      with ordinality as wanted(scope, name, since, until, position)),
  periods as materialized (select distinct scope, since, until from wanted),
  used as materialized (${usedBy('project', 'project')} union all ${usedBy('key', 'key_id')})
  select ${bounded('coalesce(sum(tokens), 0)')} as tokens, ${bounded('coalesce(sum(nano_usd), 0)')} as "nanoUsd"
  from wanted left join used using (scope, since, until, name) group by position order by position`;

function usedBy(scope: string, column: string): string {
  const read = (table: string, isIn: string) =>
    `select scope, since, until, summed.* from periods cross join lateral (
      select ${column} as name, sum(input_tokens + output_tokens) as tokens, sum(nano_usd) as nano_usd
      from ${table} where ${isIn} group by ${column}) as summed
    where scope = '${scope}'`;
  const sums = read('ledger_sums', 'quarter >= since and quarter < until');
  const isOpen = `started_ms >= since * ${quarterMs} and started_ms < until * ${quarterMs}`;
  return `${sums} union all ${read('ledger_intents', isOpen)}`;
}

/** $1 the first quarter of an hour that is kept. */
export const pruneSums = sumPruning('ledger_sums', '$1');

/** $1 most rows to delete, $2 started before, $3 the first id to keep whatever its age; returns how many were deleted. */
export const pruneRows = `
  with gone as (
    delete from ledger_exchanges where id in (select id from ledger_exchanges order by id limit $1)
      and (started_ms < $2 or id < $3) returning 1)
  select count(*) as gone from gone`;
