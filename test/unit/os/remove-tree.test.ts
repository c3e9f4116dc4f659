import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemExec } from '../../../src/os/exec.ts';
import { removeTree } from '../../../src/os/remove-tree.ts';
import { residentShell } from '../../../src/os/resident-shell.ts';
import { makeDeepTree } from '../../fixtures/deep-tree.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const execs = { systemExec, residentShell: residentShell({ clock: new FakeClock() }) };

function scene(context: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'minik8s-remove-'));
  context.after(() => rmSync(root, { recursive: true }));
  return root;
}

for (const [name, exec] of Object.entries(execs)) {
  test(`removeTree by ${name} deletes a directory and its content, but no target of its links`, async (context) => {
    const root = scene(context);
    const tree = join(root, "-it's\na tree");
    mkdirSync(join(tree, 'kept'), { recursive: true });
    mkdirSync(join(root, 'kept'));
    writeFileSync(join(root, 'kept', 'file'), '');
    symlinkSync(join(root, 'kept'), join(tree, 'link'));
    for (const odd of ['-rf', '*', '$HOME', ' ', 'a\nb']) writeFileSync(join(tree, odd), '');
    makeDeepTree(tree);
    await removeTree(tree, exec);
    assert.deepEqual(readdirSync(root), ['kept']);
    assert.deepEqual(readdirSync(join(root, 'kept')), ['file']);
    await removeTree(tree, exec);
  });
}

test('removeTree does no work in this process for each file', async (context) => {
  const tree = join(scene(context), 'tree');
  mkdirSync(tree);
  for (let n = 0; n < 500; n++) writeFileSync(join(tree, `${n}`), '');
  let operations = 0;
  const hook = createHook({ init: (_id, type) => void (type.startsWith('FSREQ') && operations++) }).enable();
  await removeTree(tree, execs.residentShell);
  hook.disable();
  assert.equal(existsSync(tree), false);
  assert.ok(operations < 50, `${operations} operations on files`);
});

test('removeTree rejects with the reason of an aborted signal, and deletes nothing', async (context) => {
  const tree = join(scene(context), 'tree');
  mkdirSync(tree);
  const signal = AbortSignal.abort(new Error('enough'));
  await assert.rejects(removeTree(tree, execs.residentShell, signal), /^Error: enough$/);
  assert.ok(existsSync(tree));
});
