/** Every text that docs/troubleshooting.md explains still stands in the source. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
/** A message is put together at these places: where something differs, and before an advice or a hint. */
const source = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.gen.ts'))
  .map((file) => readFileSync(join(root, file), 'utf8').replaceAll("\\'", "'"))
  .join('\n');
const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8');
const texts = [
  ...page.matchAll(/^### `(.+)`$/gm),
  // The causes of one error.
  ...page.matchAll(/^- `(.+?)`:/gm),
].map(([, text = '']) => text);

test('there are at least twenty of them', () => assert.ok(texts.length >= 20, String(texts.length)));

for (const text of texts)
  test(`“${text}” is still said`, () => {
    const parts = text
      .split(/…|; | \(/)
      .map((part) => part.trim())
      .filter((part) => /[a-z]{3}/i.test(part));
    assert.ok(parts.length > 0, 'it has words of its own');
    for (const part of parts) assert.ok(source.includes(part), `src has no “${part}”`);
  });
