/** The kernel log in a file of the test: each record is read once, however often its reader ends. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { followKernelLog } from '../../../src/kubelet/devices/kernel-log.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

function begin(context: TestContext, file = 'kmsg') {
  const base = mkdtempSync(join(tmpdir(), 'minik8s-kernel-log-'));
  const path = join(base, file);
  const [clock, log, stop] = [new FakeClock(), new RecordingLogger(), new AbortController()];
  const records: string[] = [];
  let [isOver, running] = [false, Promise.resolve()];
  const over = async () => {
    stop.abort();
    await running;
  };
  context.after(async () => {
    await over();
    rmSync(base, { recursive: true });
  });
  return {
    ...{ path, clock, records, over },
    isOver: () => isOver,
    warned: () => log.of('warn').map(({ fields }) => String(fields.error)),
    run: () => {
      const onRecord = (line: string) => void records.push(line);
      running = followKernelLog({ path, clock, log, onRecord }, stop.signal).finally(() => {
        isOver = true;
      });
    },
    /** Waits until the reader has ended and the next reader starts after this many milliseconds. */
    waits: (ms: number) => eventually(systemClock, `it waits for ${ms} ms`, () => clock.nextIn === ms),
  };
}

test('each record of the log is read once, although its reader begins again with the oldest record', async (context) => {
  const { path, clock, records, warned, run, waits, over, isOver } = begin(context);
  writeFileSync(path, '6,10,100,-;one\n DEVICE=x\n6,11,200,-;two\n');
  run();
  await waits(1000);
  assert.deepEqual(records, ['6,10,100,-;one', '6,11,200,-;two']);
  assert.deepEqual(warned(), [`the reader of ${path} has ended with status 0`]);
  await clock.advance(1000);
  await waits(2000);
  await clock.advance(2000);
  await waits(4000);
  assert.equal(records.length, 2);
  assert.equal(warned().length, 1, 'the fault is reported once');
  appendFileSync(path, '6,12,300,-;three\n');
  await clock.advance(4000);
  await waits(1000);
  assert.deepEqual(records.slice(2), ['6,12,300,-;three']);
  assert.equal(warned().length, 2, 'a new failure after a record is reported again');
  await over();
  assert.ok(isOver());
});

test('an unreadable log is tried again at growing intervals, and the reason is logged briefly', async (context) => {
  const { clock, warned, run, waits } = begin(
    context,
    `${'x'.repeat(200)}/${'y'.repeat(200)}/${'z'.repeat(200)}`,
  );
  run();
  const doubled = Array.from({ length: 10 }, (_, index) => 1000 * 2 ** index);
  for (const ms of [...doubled, 600_000]) {
    await waits(ms);
    await clock.advance(ms);
  }
  await waits(600_000);
  const [why = '', ...more] = warned();
  assert.deepEqual([why.length, more], [500, []]);
  assert.match(why, /^cat: .*xxx/);
});

test('the end of the agent ends a reader that waits for the next record', async (context) => {
  const { path, records, warned, run, over, clock } = begin(context);
  execFileSync('mkfifo', [path]);
  run();
  await over();
  assert.deepEqual([records, clock.pending], [[], 0]);
  assert.deepEqual(warned(), []);
});

test('the kernel log is not read if the program that reads it does not exist, and the reason is logged', async (context) => {
  const { warned, run, waits, over } = begin(context);
  const { PATH } = process.env;
  context.after(() => {
    process.env.PATH = PATH;
  });
  process.env.PATH = '/nowhere';
  run();
  await waits(1000);
  await over();
  assert.deepEqual(warned(), ['spawn cat ENOENT']);
});
