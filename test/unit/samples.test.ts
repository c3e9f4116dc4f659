/** Every sample is listed and says how to try it. test/e2e/samples.test.ts checks that it works. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commandsOf } from '../fixtures/sample-readme.ts';

const root = join(import.meta.dirname, '../../samples');
const folders = readdirSync(root, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

test('the list of samples is complete and without duplicates', () => {
  const listed = [...read('README.md').matchAll(/^- \[(.*?)\]\((.*?)\)/gm)];
  assert.deepEqual(listed.map(([, name]) => name).sort(), folders.sort());
  for (const [, name, path] of listed) assert.equal(path, name);
});

for (const folder of folders) {
  test(`${folder}: its commands print the documented output, and remove everything again`, () => {
    const commands = commandsOf(read(folder, 'README.md'));
    assert.ok(commands.some(({ says }) => says));
    const manifests = readdirSync(join(root, folder)).filter((file) => file.endsWith('.yaml'));
    assert.ok(manifests.length > 0);
    const all = commands.map(({ command }) => command).join('\n');
    assert.match(all, /(ctl delete |rm .*static-pod)/);
    assert.ok(all.includes(`samples/${folder}`));
  });
}

test('a line of a sample is split into its command and its output', () => {
  const [plain, telling] = commandsOf('# Title\n\n    ctl apply -f x\n    ctl get a   # a-… 1/1 (b)\n');
  assert.deepEqual(plain, { command: 'ctl apply -f x', says: undefined });
  assert.equal(telling?.command, 'ctl get a');
  assert.doesNotMatch('a-x 1/2 (b)', telling?.says ?? /^/);
  assert.match('NAME\na-x   \n 1/1   (b)', telling?.says ?? /^$/);
});
