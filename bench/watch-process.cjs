// node --require ./watch-process.cjs PROGRAM: writes a JSON line every GATEWAY_WATCH_MS milliseconds to the file
// GATEWAY_WATCH_FILE: the delay of the event loop over that time, in microseconds, and the MB of heap that lived
// after the last full collection in it, where there was one.
'use strict';
const { appendFileSync } = require('node:fs');
const { constants, monitorEventLoopDelay, PerformanceObserver } = require('node:perf_hooks');
const { isMainThread } = require('node:worker_threads');

const { GATEWAY_WATCH_FILE: file, GATEWAY_WATCH_MS: everyMs } = process.env;

if (isMainThread && file !== undefined) {
  const resolutionMs = 5;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let liveMb;
  new PerformanceObserver((list) => {
    const isFull = ({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
    if (list.getEntries().some(isFull)) liveMb = process.memoryUsage().heapUsed / 2 ** 20;
  }).observe({ entryTypes: ['gc'] });
  setInterval(() => {
    // The timer that measures comes every few milliseconds anyway; what it comes late is the delay.
    const late = (percentile) => Math.max(0, delay.percentile(percentile) / 1_000 - resolutionMs * 1_000);
    const line = { atMs: Date.now(), loop50: late(50), loop99: late(99), liveMb };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
    delay.reset();
    liveMb = undefined;
  }, Number(everyMs)).unref();
}
