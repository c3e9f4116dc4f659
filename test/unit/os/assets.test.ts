import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { extractAsset, readAsset } from '../../../src/os/assets.ts';

/** Directory in which the build makes the assets. */
const assets = join(import.meta.dirname, '../../../dist/assets');

test('an asset is written atomically, replaced if it differs and otherwise unchanged', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-assets-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'deep/pause.tar');
  await extractAsset('pause.tar', path, 0o640);
  assert.deepEqual(readFileSync(path), readAsset('pause.tar'));
  const first = statSync(path);
  assert.equal(first.mode & 0o777, 0o640);

  await extractAsset('pause.tar', path, 0o600);
  assert.equal(statSync(path).ino, first.ino);
  assert.equal(statSync(path).mode & 0o777, 0o600);

  writeFileSync(path, 'damaged');
  await extractAsset('pause.tar', path, 0o600);
  assert.deepEqual(readFileSync(path), readAsset('pause.tar'));
  assert.deepEqual(readdirSync(dirname(path)), ['pause.tar']);

  const same = readFileSync(path);
  same[0] = 255 - (same[0] ?? 0);
  writeFileSync(path, same);
  await extractAsset('pause.tar', path, 0o600);
  assert.deepEqual(readFileSync(path), readAsset('pause.tar'));

  await assert.rejects(extractAsset('pause.tar', join(path, 'below-a-file'), 0o600), /ENOTDIR|cannot write/);
});

test('a compressed asset is decompressed and written once', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-assets-'));
  context.after(() => rmSync(directory, { recursive: true }));
  for (const name of ['etcd', 'kustomize'] as const) {
    const path = join(directory, name);
    await extractAsset(`${name}.zst`, path, 0o700);
    const content = readFileSync(path);
    assert.ok(
      content.equals(readFileSync(join(assets, name))),
      `${name} differs from the program of the build`,
    );
    assert.ok(content.length > 2 * readAsset(`${name}.zst`).length);
    const { ino } = statSync(path);
    await extractAsset(`${name}.zst`, path, 0o700);
    assert.equal(statSync(path).ino, ino);
  }
  assert.deepEqual(readdirSync(directory).sort(), ['etcd', 'kustomize']);
});
