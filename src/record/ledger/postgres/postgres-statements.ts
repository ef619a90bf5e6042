import { exchangeColumns, exchangeNames } from '../exchange-columns.ts';
import { additions, sumColumns, sumPruning } from '../ledger-sums.ts';
import { bounded, types } from './postgres-schema.ts';

interface Statement {
  readonly name: string;
  readonly text: string;
}

/** $1 rows, as JSON: one round trip for any number of them. Returns the ids of those that were not there. */
export const addRows: Statement = {
  name: 'ledger rows',
  text: `insert into ledger_exchanges (${exchangeNames}) select ${exchangeNames}
    from json_to_recordset($1::json) as each(${exchangeColumns.map(({ name, type }) => `${name} ${types[type]}`).join()})
    on conflict (request_id) do nothing returning request_id`,
};

/** $1 what is added, as lists. Always in the same order, so that gateways can't deadlock. */
export const addSums: Statement = {
  name: 'ledger sums',
  text: `insert into ledger_sums (shard, ${sumColumns.join()})
    select 0, ${sumColumns.map((column, i) => `(value->>${i})::${i === 0 || i > 3 ? 'bigint' : 'text'} as ${column}`).join()}
    from json_array_elements($1::json) with ordinality as given(value, position) order by position
    on conflict (quarter, shard, project, key_id, model) do update set ${additions('ledger_sums')}`,
};

/** $1 ids; returns those that have a row. */
export const findRows: Statement = {
  name: 'ledger find',
  text: 'select request_id from ledger_exchanges where request_id = any($1::text[])',
};

/**
 * $1 a list of scope, name, first quarter of an hour, and the first one after: returns what was used. The
 * table is read once for each distinct scope and period, not once for each sum: PostgreSQL's planner, which can't know how
 * many sums are wanted, would do that.
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
  return `select scope, since, until, summed.* from periods cross join lateral (
      select ${column} as name, sum(input_tokens + output_tokens) as tokens, sum(nano_usd) as nano_usd
      from ledger_sums where quarter >= since and quarter < until group by ${column}) as summed
    where scope = '${scope}'`;
}

/** $1 the first quarter of an hour that is kept. */
export const pruneSums = sumPruning('ledger_sums', '$1');

/** $1 most rows to delete, $2 started before, $3 the first id to keep whatever its age; returns how many were deleted. */
export const pruneRows = `
  with gone as (
    delete from ledger_exchanges where id in (select id from ledger_exchanges order by id limit $1)
      and (started_ms < $2 or id < $3) returning 1)
  select count(*) as gone from gone`;
