/** NVIDIA cards whose driver reports errors in the kernel log, which is a pipe here, read as /dev/kmsg is. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { DeviceManager } from '../../../src/kubelet/devices/device-manager.ts';
import { followKernelLog } from '../../../src/kubelet/devices/kernel-log.ts';
import { NvidiaCards } from '../../../src/kubelet/devices/nvidia-cards.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { nvidiaDriver } from '../../fixtures/nvidia-driver.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const nvidia = 'nvidia.com/gpu';
const xid = (card: number, number: number) => `NVRM: Xid (PCI:0000:0${card}:00): ${number}, pid=1, name=app`;

const newDirectory = () => mkdtempSync(join(tmpdir(), 'minik8s-card-errors-'));
const remove = (directory: string) => rmSync(directory, { recursive: true, force: true });

function directoryOf(context: TestContext): string {
  const directory = newDirectory();
  context.after(() => remove(directory));
  return directory;
}

function machineOf(context: TestContext) {
  const base = newDirectory();
  const machine = nvidiaDriver(base);
  const kernelLog = join(base, 'kmsg');
  execFileSync('mkfifo', [kernelLog]);
  // Opened for reading and writing: neither side waits for the other, and the reader never reaches the end.
  const writer = openSync(kernelLog, 'r+');
  let sequence = 0;
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const manager = new DeviceManager({
    ...{ dataDir: join(base, 'data'), clock, log },
    containers: () => [],
    isActive: () => true,
  });
  const cards = new NvidiaCards({ ...machine, kernelLog, manager, clock, log, hasHook: () => false });
  const stop = new AbortController();
  let running = Promise.resolve();
  context.after(async () => {
    stop.abort();
    await running;
    await manager.close();
    closeSync(writer);
    // The manager writes there until it is closed.
    remove(base);
  });
  return {
    ...{ machine, cards, clock, log, kernelLog },
    run: () => {
      running = cards.run(stop.signal);
    },
    logs: (...texts: readonly string[]) =>
      writeSync(writer, texts.map((text) => `3,${sequence++},1,-;${text}\n`).join('')),
    counted: (capacity: number, allocatable: number) =>
      eventually(systemClock, `${allocatable} of ${capacity} cards`, () => {
        const count = manager.counts.value.get(nvidia);
        return count?.capacity === capacity && count.allocatable === allocatable;
      }),
    healthy: () => cards.devices.filter(({ healthy }) => healthy).map(({ id }) => id),
  };
}

test('a card that has failed is not allocatable any more; a card whose programs have errors still is', async (context) => {
  const { machine, cards, run, logs, counted, healthy, log } = machineOf(context);
  const [one, two] = [machine.card(1), machine.card(2)];
  await cards.look();
  run();
  await counted(2, 2);
  logs(xid(1, 31), xid(1, 13), 'another line', xid(9, 79), xid(2, 79), xid(2, 79));
  await counted(2, 1);
  assert.deepEqual(healthy(), [one]);
  assert.deepEqual(
    log.of('warn').map(({ fields }) => fields),
    [
      { card: '0000:09:00', xid: 79 },
      { card: '0000:02:00', xid: 79 },
    ],
  );
  logs(xid(1, 48));
  await counted(2, 0);
  assert.ok(two);
});

test('a card is allocated again after a reload of its driver, or after it was removed and returned', async (context) => {
  const { machine, cards, run, logs, counted, healthy } = machineOf(context);
  const [one, two] = [machine.card(1), machine.card(2)];
  await cards.look();
  logs(xid(2, 79), 'NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15', xid(1, 79));
  run();
  await counted(2, 1);
  assert.deepEqual(healthy(), [two], 'an error from before the driver was loaded does not count');
  machine.lose(1);
  await cards.look();
  await counted(2, 1);
  machine.card(1, false);
  await cards.look();
  await counted(2, 2);
  assert.deepEqual(healthy(), [one, two]);
});

test('the log of the kernel is opened when the first card is found, not on a machine without cards', async (context) => {
  const { machine, cards, run, logs, clock, counted, log } = machineOf(context);
  run();
  await cards.look();
  assert.deepEqual(cards.devices, []);
  machine.card(1);
  await clock.advance(30_000);
  await counted(1, 1);
  logs(xid(1, 79));
  await counted(1, 0);
  assert.equal(log.of('warn').length, 1);
});

test('each record is read once, although the reader restarts with the oldest record', async (context) => {
  const path = join(directoryOf(context), 'kmsg');
  const [clock, log, stop] = [new FakeClock(), new RecordingLogger(), new AbortController()];
  const read: string[] = [];
  writeFileSync(path, '3,1,1,-;a\n continued\n3,2,1,-;b\n');
  const following = followKernelLog({ path, clock, log, onRecord: (line) => read.push(line) }, stop.signal);
  await eventually(systemClock, 'two records', () => read.length === 2);
  writeFileSync(path, '3,1,1,-;a\n3,2,1,-;b\n3,9,1,-;c\n');
  await eventually(systemClock, 'the third', async () => {
    await clock.advance(60_000);
    return read.length > 2;
  });
  assert.deepEqual(read, ['3,1,1,-;a', '3,2,1,-;b', '3,9,1,-;c']);
  stop.abort();
  await following;
});

test('an unreadable log is reported once, and is read when it is readable', async (context) => {
  const path = join(directoryOf(context), 'kmsg');
  const [clock, log, stop] = [new FakeClock(), new RecordingLogger(), new AbortController()];
  const read: string[] = [];
  const following = followKernelLog({ path, clock, log, onRecord: (line) => read.push(line) }, stop.signal);
  await eventually(systemClock, 'the fault is reported', () => log.of('warn').length > 0);
  for (let i = 0; i < 5; i++) await clock.advance(600_000);
  assert.equal(log.of('warn').length, 1);
  assert.match(JSON.stringify(log.of('warn')), /No such file or directory"/, 'without the end of its line');
  writeFileSync(path, '3,1,1,-;a\n');
  await eventually(systemClock, 'it is read', async () => {
    await clock.advance(600_000);
    return read.length === 1;
  });
  stop.abort();
  await following;
});
