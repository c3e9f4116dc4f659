import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { claimInstallation } from '../../../../src/roles/install/one-installation.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const directory = mkdtempSync(join(tmpdir(), 'one-installation-'));
after(() => rmSync(directory, { recursive: true }));

/** Advances the clock whenever the claim waits, until it has ended. */
async function ended<T>(clock: FakeClock, claim: Promise<T>): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  claim.then(over, over);
  while (!isOver) {
    if (clock.pending > 0) await clock.advance(1_000);
    else await nextTurn();
  }
}

test('a second installation is refused while the first one continues, and the error names the process of the first', async () => {
  const [file, clock] = [join(directory, 'lock'), new FakeClock()];
  const release = await claimInstallation(file, clock);
  const second = claimInstallation(file, clock);
  await ended(clock, second);
  await assert.rejects(second, {
    message: `process ${process.pid} installs, upgrades or removes minik8s on this machine: run this again when it has ended`,
  });
  await release();
  await (await claimInstallation(file, clock))();
});

test('a second installation continues once the first one has ended, which may take a moment', async () => {
  const [file, clock] = [join(directory, 'other'), new FakeClock()];
  const release = await claimInstallation(file, clock);
  const second = claimInstallation(file, clock);
  while (clock.pending === 0) await nextTurn();
  await release();
  await ended(clock, second);
  await (await second)();
});
