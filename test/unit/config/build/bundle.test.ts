import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { bundle } from '../../../../config/build/bundle.ts';

const root = join(import.meta.dirname, '../../../..');

test('two bundles in different directories are the same, with the commands in order', async (context) => {
  const made: (readonly string[])[] = [];
  for (const name of ['a', 'another name']) {
    const outdir = mkdtempSync(join(tmpdir(), `minik8s-bundle ${name}-`));
    context.after(() => rmSync(outdir, { recursive: true }));
    const { main, server, client, threads } = await bundle({ root, outdir, version: '1.2.3' });
    const packs = Object.keys(client).sort();
    assert.ok(packs.length > 50, `${packs.length} packs of the client`);
    const files = [server, main, ...packs.map((pack) => client[pack] ?? ''), ...Object.values(threads)];
    made.push(files.map((path) => readFileSync(path, 'utf8')));
  }
  const [first = [], second = []] = made;
  for (const [index, text] of first.entries()) assert.ok(text === second[index], `file ${index} differs`);
  const [server = ''] = first;
  const entries = server.slice(server.lastIndexOf('module.exports={'));
  const commands = [...entries.matchAll(/"(src\/[^"]+\.ts)":\(\)=>/g)].map(([, path]) => path);
  assert.ok(commands.length > 5, `${commands.length} commands`);
  assert.deepEqual(commands, commands.toSorted());
});
