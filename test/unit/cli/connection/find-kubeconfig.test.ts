import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findKubeconfig } from '../../../../src/cli/connection/find-kubeconfig.ts';

const content = (name: string) =>
  JSON.stringify({ 'current-context': name, contexts: [{ name, context: { cluster: 'c', user: 'u' } }] });

/** A home folder and a data directory, each with a kubeconfig. */
function machine(context: TestContext) {
  const homeDirectory = mkdtempSync(join(tmpdir(), 'minik8s-kubeconfig-'));
  context.after(() => rmSync(homeDirectory, { recursive: true }));
  const file = (name: string) => join(homeDirectory, name);
  mkdirSync(file('.kube'));
  for (const name of ['.kube/config', 'admin.conf', 'own']) writeFileSync(file(name), content(name));
  const io = (KUBECONFIG?: string) => ({
    homeDirectory,
    env: { MINIK8S_DATA_DIR: homeDirectory, ...(KUBECONFIG !== undefined && { KUBECONFIG }) },
  });
  return { file, io };
}

test('a KUBECONFIG without existing files is an error, even if the default places have a configuration', (context) => {
  const { file, io } = machine(context);
  assert.throws(() => findKubeconfig(io(file('a')), undefined), {
    name: 'UsageError',
    message: `$KUBECONFIG: ${file('a')} does not exist; correct it, or unset KUBECONFIG to use the default places`,
  });
  assert.throws(() => findKubeconfig(io(`${file('a')}:${file('b')}`), undefined), {
    message: new RegExp(`^.KUBECONFIG: none of ${file('a')}, ${file('b')} exists;`),
  });
});

test('missing files of a KUBECONFIG are skipped when another exists', (context) => {
  const { file, io } = machine(context);
  const found = findKubeconfig(io(`${file('a')}:${file('own')}`), undefined);
  assert.equal(found.currentContext, 'own');
});

test('a file of KUBECONFIG without contexts does not give way to the default places', (context) => {
  const { file, io } = machine(context);
  writeFileSync(file('empty'), '');
  assert.deepEqual(findKubeconfig(io(file('empty')), undefined).contexts, {});
});

test('an empty KUBECONFIG, and none, mean the default places', (context) => {
  const { file, io } = machine(context);
  for (const value of [undefined, '', ':']) {
    assert.equal(findKubeconfig(io(value), undefined).currentContext, '.kube/config');
  }
  rmSync(file('.kube'), { recursive: true });
  assert.equal(findKubeconfig(io(), undefined).currentContext, 'admin.conf');
});
