import { open } from 'node:fs/promises';
import { parseRecord } from '../../record/read-records.ts';
import type { ExchangeRecord } from '../../record/record.ts';

/** Records have some 600 bytes, so this is several thousand, unless they hold bodies. */
const readBytes = 4 * 1024 * 1024;

/** The newest records of a file, newest first; none if it can't be read. */
export async function lastRecords(file: string): Promise<readonly ExchangeRecord[]> {
  const handle = await open(file).catch(() => undefined);
  try {
    const { size = 0 } = (await handle?.stat()) ?? {};
    const start = Math.max(0, size - readBytes);
    const bytes = Buffer.alloc(size - start);
    await handle?.read(bytes, 0, bytes.length, start);
    const lines = bytes.toString().split('\n');
    return lines.reverse().flatMap((line) => parseRecord(line) ?? []);
  } catch {
    return []; // gone or truncated meanwhile: the page begins empty
  } finally {
    await handle?.close();
  }
}
