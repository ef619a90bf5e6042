import { Ledger } from '../../../src/record/ledger/ledger.ts';
import { fileLedger } from '../../../src/record/ledger/ledger-store.ts';
import { retention, row } from './rows.ts';

// A process of its own, which ends while its ledger's thread is busy: with exit code 7, after so many milliseconds.

const [path = '', afterMs] = process.argv.slice(2);
const ledger = new Ledger({
  place: fileLedger(path),
  retention,
  onEvent: ({ kind }) => process.stderr.write(`${kind}\n`),
});
await ledger.startWriting();
ledger.start();
let count = 0;
setInterval(() => {
  for (let i = 0; i < 300; i += 1) {
    count += 1;
    void ledger.finish(row(`req_${count}`)).write();
  }
}, 5);
setTimeout(() => process.exit(7), Number(afterMs));
