/** Every text that docs/troubleshooting.md explains exists in the source, and a test provokes each. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { troubles } from '../e2e/harness/troubles.ts';
import { troubleEntries, troubleEntry } from '../fixtures/troubleshooting.ts';

const root = join(import.meta.dirname, '../..');
/** Source of all messages. A message is composed at variable parts, and before an advice or a hint. */
const source = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.gen.ts'))
  .map((file) => readFileSync(join(root, file), 'utf8').replaceAll("\\'", "'"))
  .join('\n');
const texts = troubleEntries.flatMap(({ text, causes }) => [text, ...causes]);

test('there are at least twenty pages', () => assert.ok(texts.length >= 20, String(texts.length)));

for (const text of texts)
  test(`“${text}” is still a message of the source`, () => {
    const parts = text
      .split(/…|; | \(/)
      .map((part) => part.trim())
      .filter((part) => /[a-z]{3}/i.test(part));
    assert.ok(parts.length > 0, 'it has words of its own');
    for (const part of parts) assert.ok(source.includes(part), `src has no “${part}”`);
  });

const provoked = troubles(1, '192.0.2.1');

test('the end-to-end test has each entry, in the order of the page', () => {
  assert.deepEqual(
    provoked.map(({ entry }) => troubleEntry(entry).text),
    troubleEntries.map(({ text }) => text),
  );
});

for (const { entry, errors = [], elsewhere } of provoked)
  test(`the error “${entry}” is provoked`, () => {
    if (elsewhere === undefined) assert.ok(errors.length > 0);
    else
      assert.ok(readFileSync(join(root, elsewhere), 'utf8').includes(`troubleText('${entry}')`), elsewhere);
  });
