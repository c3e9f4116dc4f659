import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeCodeCaches, withFlagsOf } from '../../../../config/build/code-cache.ts';

const warmServer = join(import.meta.dirname, '../../../../config/build/warm-server.ts');

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
  // A cache that V8 rejects is an error of makeCodeCaches.
  for (const cache of [first, second])
    await makeCodeCaches([process.execPath], [warmServer, source, cache], [{ source, cache }]);
  assert.ok(readFileSync(first).length > 1000);
  assert.deepEqual(readFileSync(first), readFileSync(second));
  assert.deepEqual(readdirSync(folder).sort(), ['application.cjs', 'first.cache', 'second.cache']);
});

test('only the digest of the flags is replaced, in caches of the same V8', () => {
  const cache = Buffer.from('magcverssrc1madecode');
  assert.equal(withFlagsOf(cache, Buffer.from('magcverssrc2none')).toString(), 'magcverssrc1nonecode');
  assert.throws(() => withFlagsOf(cache, Buffer.from('magcothrsrc1none')), {
    message: /header of V8’s code cache/,
  });
});
