import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const fixture = join(import.meta.dirname, '../../fixtures/hoard.ts');

/** Returns the memory in MB. */
async function hoard(mode: string): Promise<{ most: number; left: number }> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--expose-gc', fixture, mode]);
  assert.equal(stderr, '', 'the program prints no warning');
  return JSON.parse(stdout);
}

test('freed memory is returned to the system, even if memory at higher addresses is still in use', async () => {
  const without = await hoard('leave');
  assert.ok(
    without.most - without.left < 50,
    `the C library returns the memory by itself: ${JSON.stringify(without)}`,
  );
  const kept = await hoard('keep');
  assert.ok(kept.most - kept.left > 100, `too much memory stays: ${JSON.stringify(kept)}`);
});
