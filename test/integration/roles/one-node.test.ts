import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { systemExec } from '../../../src/os/exec.ts';
import { claimNode } from '../../../src/roles/worker/one-node.ts';

test('a machine is one node at a time; the second one fails with a message that names the first', async () => {
  const name = `@minik8s-node-${randomUUID()}`;
  const release = await claimNode(name);
  await assert.rejects(claimNode(name), (error: Error) => {
    const which = `with process id ${process.pid}`;
    assert.equal(error.message, `another minik8s runs as a node on this machine ${which}; stop it first`);
    return true;
  });
  const { stdout } = await systemExec('ss', ['-Hlxp', 'src', name]);
  assert.match(stdout, new RegExp(`pid=${process.pid}\\b`));
  await release();
  const again = await claimNode(name);
  await again();
});
