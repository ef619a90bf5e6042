// The policy engine, the schema and the YAML parser, as the commands need them. They import it when they run, so that
// completing their options doesn't load it.

export { decideOffline } from '../../gateway/offline/decide-offline.ts';
export { explainRequest } from '../../gateway/offline/explain-request.ts';
export { endpointNamed, guessEndpoint } from '../../gateway/offline/request-endpoint.ts';
export { checkFixture } from './check-fixture.ts';
export { parseFixtures } from './fixtures.ts';
export { inlineCases } from './inline-cases.ts';
export { loadPolicies } from './load-policies.ts';
export { readRecords } from './recorded.ts';
