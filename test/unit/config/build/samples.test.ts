import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { compressed } from '../../../../config/build/compress.ts';
import { readSamples } from '../../../../config/build/samples.ts';
import { readSampleFiles, samplesJson } from '../../../../src/roles/samples/sample-files.ts';
import { commandsOf } from '../../../fixtures/sample-readme.ts';

const root = join(import.meta.dirname, '../../../..');
const files = await readSamples(root);

test('the asset of the samples has the text of each file, and which of them are programs', async () => {
  const read = readSampleFiles(await compressed(samplesJson(files)));
  for (const { path, text } of read) assert.equal(text, readFileSync(join(root, path), 'utf8'), path);
  const programs = read.filter(({ executable }) => executable).map(({ path }) => path);
  assert.deepEqual(programs, ['bin/make-images', 'bin/make-runtimes', 'samples/hello/image/hello']);
});

/** Pages of docs whose commands need the repository: they build it, test it or change it. */
const ofTheRepository = ['conformance.md', 'conformance-network.md', 'release.md'];

test('the samples have every file and program that the commands of READMEs and of docs name', () => {
  const paths = files.map(({ path }) => path);
  const docs = readdirSync(join(root, 'docs')).filter(
    (name) => name.endsWith('.md') && !ofTheRepository.includes(name),
  );
  const pages = [
    ...files.filter(({ path }) => path.endsWith('/README.md')),
    ...docs.map((name) => ({ path: name, text: readFileSync(join(root, 'docs', name), 'utf8') })),
  ];
  assert.ok(pages.length > 70, `${pages.length} pages`);
  for (const { path, text } of pages)
    for (const { command } of commandsOf(text))
      for (const [named] of command.matchAll(/(?<![\w/-])(samples|bin|config)\/[\w./-]+/g))
        assert.ok(
          paths.some((one) => one === named || one.startsWith(`${named}/`)),
          `${path}: ${command}`,
        );
});

test('a sample that is no text is rejected, since JSON would change its bytes', async (context) => {
  const copy = mkdtempSync(join(tmpdir(), 'minik8s-samples-copy-'));
  context.after(() => rmSync(copy, { recursive: true }));
  for (const name of ['samples', 'bin', 'config/monitoring'])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  writeFileSync(join(copy, 'samples/hello/picture'), Buffer.from([0xff, 0xd8]));
  await assert.rejects(readSamples(copy), /^Error: samples\/hello\/picture is no text/);
});
