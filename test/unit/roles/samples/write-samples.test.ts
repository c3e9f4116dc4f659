import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { SampleFile } from '../../../../src/roles/samples/sample-files.ts';
import { writeSamples } from '../../../../src/roles/samples/write-samples.ts';

const files: readonly SampleFile[] = [
  { path: 'bin/make', executable: true, text: '#!/bin/sh\n' },
  { path: 'samples/hello/service.yaml', executable: false, text: 'kind: Service\n' },
];

function parentOf(context: TestContext): string {
  const parent = mkdtempSync(join(tmpdir(), 'minik8s-samples-test-'));
  context.after(() => rmSync(parent, { recursive: true }));
  return parent;
}

const usage = (message: RegExp) => ({ name: 'UsageError', message });

test('samples are written to a new folder, with programs that can be run, and are there the second time', async (context) => {
  const parent = parentOf(context);
  const folder = join(parent, 'new');
  assert.equal(await writeSamples(folder, files), true);
  for (const { path, text } of files) assert.equal(readFileSync(join(folder, path), 'utf8'), text);
  assert.equal(statSync(join(folder, 'bin/make')).mode & 0o100, 0o100);
  assert.equal(statSync(join(folder, 'samples/hello/service.yaml')).mode & 0o111, 0);
  const { ino } = statSync(join(folder, 'bin/make'));
  assert.equal(await writeSamples(folder, files), false);
  assert.equal(statSync(join(folder, 'bin/make')).ino, ino);
  assert.deepEqual(readdirSync(parent), ['new']);
});

test('samples are written to an empty folder, and to the folder of a link', async (context) => {
  const parent = parentOf(context);
  mkdirSync(join(parent, 'empty'));
  symlinkSync('empty', join(parent, 'link'));
  assert.equal(await writeSamples(join(parent, 'link'), files), true);
  assert.deepEqual(readdirSync(join(parent, 'empty')).sort(), ['bin', 'samples']);
  assert.equal(await writeSamples(join(parent, 'empty'), files), false);
  assert.deepEqual(readdirSync(parent).sort(), ['empty', 'link']);
});

test('samples that a user has changed or removed are reported, and nothing is written', async (context) => {
  const folder = join(parentOf(context), 'own');
  await writeSamples(folder, files);
  const service = join(folder, 'samples/hello/service.yaml');
  writeFileSync(service, 'kind: Own\n');
  await assert.rejects(
    writeSamples(folder, files),
    usage(/own has another samples\/hello\/service\.yaml; name another folder: minik8s samples FOLDER$/),
  );
  assert.equal(readFileSync(service, 'utf8'), 'kind: Own\n');
  rmSync(join(folder, 'bin'), { recursive: true });
  await assert.rejects(writeSamples(folder, files), usage(/own has other files, and no bin\/make; name/));
  assert.deepEqual(readdirSync(folder), ['samples']);
});

test('a file, and a folder without a parent, are rejected in one line', async (context) => {
  const parent = parentOf(context);
  const file = join(parent, 'file');
  writeFileSync(file, 'kept');
  await assert.rejects(writeSamples(file, files), usage(/file is no folder; name another one: /));
  await assert.rejects(writeSamples(join(file, 'inner'), files), usage(/inner is no folder; name/));
  assert.equal(readFileSync(file, 'utf8'), 'kept');
  await assert.rejects(writeSamples(join(parent, 'a/b'), files), usage(/there is no folder \S+\/a; make it/));
  assert.deepEqual(readdirSync(parent), ['file']);
});

test('a write that fails leaves nothing behind', async (context) => {
  const parent = parentOf(context);
  const bad: SampleFile = { path: `samples/${'x'.repeat(300)}`, executable: false, text: '' };
  await assert.rejects(writeSamples(join(parent, 'new'), [...files, bad]), {
    message: /^cannot write the samples to \S+\/new: ENAMETOOLONG/,
  });
  assert.deepEqual(readdirSync(parent), []);
});
