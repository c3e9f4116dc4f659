import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { claimInstallation } from '../../../../src/roles/install/one-installation.ts';

test('a second installation is refused until the first has ended, and the error names the process of the first', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'one-installation-'));
  const file = join(directory, 'lock');
  try {
    const release = await claimInstallation(file);
    await assert.rejects(claimInstallation(file), {
      message: `process ${process.pid} installs, upgrades or removes minik8s on this machine: run this again when it has ended`,
    });
    await release();
    await (await claimInstallation(file))();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
