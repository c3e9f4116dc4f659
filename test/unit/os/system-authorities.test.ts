/** The authorities that a machine trusts, as its distribution keeps them. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemAuthorities } from '../../../src/os/system-authorities.ts';

test('the authorities of a machine are those of the first file with certificates, else those of Node', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-authorities-'));
  try {
    const [missing, empty, full] = ['missing', 'empty', 'full'].map((name) => join(directory, name));
    assert.ok(missing && empty && full);
    const text = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    await writeFile(empty, '');
    await writeFile(full, text);
    assert.equal(await systemAuthorities([missing, empty, full]), text);
    const own = await systemAuthorities([missing, empty]);
    assert.ok((own.match(/BEGIN CERTIFICATE/g) ?? []).length > 50, 'Node has authorities of its own');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
