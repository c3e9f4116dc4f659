import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeCodeCache, withFlagsOf } from '../../../../config/build/code-cache.ts';

/** An application of one command; the table has names whose order in V8's memory depends on its seed. */
const names = Array.from({ length: 500 }, (_, index) => `name${index}: () => 'text ${index}'`).join(',');
const application = `(function (exports, require, module) {
module.exports = { only: () => ({ command: { run() { return { ${names} }; } } }) };
})`;

test('an application gives the same code cache twice, and V8 accepts it without flags', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-cache-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const source = join(folder, 'application.cjs');
  writeFileSync(source, application);
  const [first, second] = [join(folder, 'first.cache'), join(folder, 'second.cache')];
  // A cache that V8 rejects is an error of makeCodeCache.
  for (const target of [first, second]) await makeCodeCache([process.execPath], source, target);
  assert.ok(readFileSync(first).length > 1000);
  assert.deepEqual(readFileSync(first), readFileSync(second));
  assert.deepEqual(readdirSync(folder).sort(), ['application.cjs', 'first.cache', 'second.cache']);
});

test('only the digest of the flags is replaced, in caches of the same source', () => {
  const header = (flags: string) => Buffer.from(`magicversionflag`.replace('flag', flags));
  assert.equal(withFlagsOf(header('made'), header('none')).toString(), 'magicversionnone');
  assert.throws(() => withFlagsOf(header('made'), Buffer.from('another_one_none')), {
    message: /header of V8’s code cache/,
  });
});
