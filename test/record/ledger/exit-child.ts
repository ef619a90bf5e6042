import { Ledger } from '../../../src/record/ledger/ledger.ts';
import type { LedgerRow } from '../../../src/record/ledger/ledger-row.ts';
import { fileLedger } from '../../../src/record/ledger/ledger-store.ts';

// A process of its own, which ends while its ledger's thread is busy: with exit code 7, after so many milliseconds.

const [path = '', afterMs] = process.argv.slice(2);
const intent = {
  requestId: 'first',
  startedMs: Date.now(),
  project: 'shop',
  keyId: 'shop-web',
  endpoint: 'chat',
  model: 'm',
  inputTokens: 30,
  outputTokens: 100,
  nanoUsd: 1_000,
};
const row: LedgerRow = {
  ...intent,
  provider: 'host',
  targetModel: 'm',
  status: 200,
  outcome: 'answered',
  decision: 'allow',
  reason: null,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  isEstimated: false,
  firstByteMs: 1.5,
  totalMs: 2.5,
};

const ledger = new Ledger({
  place: fileLedger(path),
  retention: { days: 90, bytes: 1e9 },
  onEvent: ({ kind }) => process.stderr.write(`${kind}\n`),
});
await ledger.startWriting();
ledger.start();
let count = 0;
setInterval(() => {
  for (let i = 0; i < 300; i += 1) {
    count += 1;
    void ledger.finish({ ...row, requestId: `req_${count}` });
  }
}, 5);
setTimeout(() => process.exit(7), Number(afterMs));
