/** Watch over nftables rules: the parts that write their rules again, and the reports. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { MonitorOptions } from '../../../src/os/nft-monitor.ts';
import { RuleWatch } from '../../../src/os/rule-watch.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

let clock: FakeClock;
let log: RecordingLogger;
let stop: AbortController;
let running: Promise<void>;
let watch: RuleWatch;
let reports: string[];
let restored: string[];
let monitor: MonitorOptions | undefined;
/** Ends the monitor that runs. */
let endMonitor: (error: Error) => void;

beforeEach(async () => {
  [clock, log, stop] = [new FakeClock(), new RecordingLogger(), new AbortController()];
  [reports, restored] = [[], []];
  watch = new RuleWatch({
    ...{ clock, log },
    onDeleted: (what, message) => reports.push(`${what}: ${message}`),
    monitor: (options, signal) => {
      monitor = options;
      options.onReady();
      return new Promise((resolve, reject) => {
        endMonitor = reject;
        signal.addEventListener('abort', () => resolve());
      });
    },
  });
  keep('Services', 'Services', 'ip a first', 'ip a second');
  keep('pods', undefined, 'ip filter FORWARD');
  running = watch.run(stop.signal);
  await clock.settle();
  restored = [];
});
afterEach(async () => {
  stop.abort();
  await running;
});

const keep = (name: string, what: string | undefined, ...chains: readonly string[]) =>
  watch.keep({ what, owns: (chain) => chains.includes(chain), restore: () => restored.push(name) });

test('a part whose chains have lost their rules writes them again, once, and this is reported', () => {
  monitor?.onEmptied(['ip a first', 'ip a second', 'ip other chain']);
  assert.deepEqual(restored, ['Services']);
  const message = 'Another program deleted the nft rules of Services; they are written again';
  assert.deepEqual(reports, [`Services: ${message}`]);
  monitor?.onEmptied(['ip a first']);
  assert.deepEqual(watch.deletions(), [{ what: 'Services', count: 2, lastAt: clock.now() }]);
});

test('rules without a subject are written again later without a report, and rules of other programs never', async () => {
  monitor?.onEmptied(['ip filter FORWARD']);
  // The rest of a large deletion is reported before.
  monitor?.onEmptied(['ip filter FORWARD', 'ip a first']);
  assert.deepEqual(restored, ['Services']);
  await clock.advance(300);
  assert.deepEqual([restored, reports.length], [['Services', 'pods'], 1]);
  monitor?.onEmptied(['ip other chain']);
  await clock.advance(300);
  assert.deepEqual([restored, reports.length], [['Services', 'pods'], 1]);
});

test('each part writes its rules again once a monitor that had ended runs again', async () => {
  endMonitor(new Error('nft monitor ended: status 1'));
  await clock.settle();
  assert.deepEqual(restored, []);
  await clock.advance(1_000);
  assert.deepEqual([restored, reports], [['Services', 'pods'], []]);
});
