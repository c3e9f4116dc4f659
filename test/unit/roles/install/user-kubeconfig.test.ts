import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import type { Exec } from '../../../../src/os/exec.ts';
import { isDraft } from '../../../../src/os/replace-file.ts';
import { giveCallerKubeconfig } from '../../../../src/roles/install/user-kubeconfig.ts';

const parent = mkdtempSync(join(tmpdir(), 'minik8s-kubeconfig-'));
after(() => rmSync(parent, { recursive: true }));

const ann = { SUDO_USER: 'ann', SUDO_UID: '1000' };

/** Creates the kubeconfig in a new home directory of ann; the program named `failing` fails. */
async function given(name: string, environment: Record<string, string> = ann, failing?: string) {
  const home = join(parent, name);
  mkdirSync(home, { recursive: true });
  const calls: (readonly string[])[] = [];
  const warnings: string[] = [];
  const exec: Exec = async (file, args) => {
    calls.push([file, ...args]);
    if (file === failing) throw new Error(`${file} failed`);
    const path = args[args.indexOf('--file') + 1];
    if (args[1] === 'create' && path !== undefined) writeFileSync(path, 'kubeconfig');
    return { stdout: file === 'getent' ? `ann:x:1000:1000::${home}:/bin/sh\n` : '', stderr: '' };
  };
  const result = await giveCallerKubeconfig({
    exec,
    environment,
    adminConf: join(home, 'admin.conf'),
    host: 'vm1',
    warn: (message) => warnings.push(message),
  });
  return { home, calls, warnings, result };
}

test('the user of sudo becomes a cluster user whose name is unique, because it has the name of the machine', async () => {
  const { calls, result, home, warnings } = await given('plain');
  assert.deepEqual(calls[0], ['getent', 'passwd', '--', 'ann']);
  assert.deepEqual(calls[1]?.slice(1, 6), ['user', 'create', 'ann@vm1', '--role', 'cluster-admin']);
  assert.equal(calls[2]?.[0], 'runuser');
  assert.deepEqual(result, { name: 'ann', path: join(home, '.kube/config') });
  const draft = calls[1]?.at(calls[1].indexOf('--file') + 1) ?? '';
  assert.deepEqual(
    [dirname(draft), isDraft(basename(draft))],
    [home, true],
    'reset removes one that is left',
  );
  assert.ok(!existsSync(draft), 'the draft with the key is removed');
  assert.deepEqual(warnings, []);
});

test('without sudo, no user and no kubeconfig is created', async () => {
  const { calls, result } = await given('root', {});
  assert.deepEqual(calls, []);
  assert.equal(result, undefined);
});

test('a kubeconfig that cannot be created is a warning, not an error', async () => {
  for (const failing of ['getent', 'runuser']) {
    const { result, warnings } = await given(`without-${failing}`, ann, failing);
    assert.equal(result, undefined);
    assert.match(warnings.join(), new RegExp(`^no kubeconfig for ann \\(${failing} failed\\)`));
  }
});
