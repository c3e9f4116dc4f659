import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
  const exec: Exec = async (file, args, options) => {
    calls.push([file, ...args]);
    if (file === failing) throw new Error(`${file} failed`);
    const path = args[args.indexOf('--file') + 1];
    if (args[1] === 'create' && path !== undefined) writeFileSync(path, 'kubeconfig');
    // The same script, by this user, who lets others read new files.
    const asUser = ['-c', 'umask 022; exec "$@"', 'sh', ...args.slice(3)];
    if (file === 'runuser') execFileSync('sh', asUser, { input: options?.input as Uint8Array });
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

test('the kubeconfig is readable for the user alone, and so is a new directory for it', async () => {
  const { home } = await given('modes');
  const path = join(home, '.kube/config');
  assert.equal(readFileSync(path, 'utf8'), 'kubeconfig');
  assert.deepEqual(
    [path, dirname(path)].map((each) => statSync(each).mode & 0o777),
    [0o600, 0o700],
  );
});

test('an existing kubeconfig stays, and so does a link in its place', async () => {
  const home = join(parent, 'existing');
  mkdirSync(join(home, '.kube'), { recursive: true });
  symlinkSync('/nowhere', join(home, '.kube/config'));
  const first = await given('existing');
  assert.equal(first.result?.path, join(home, '.kube/minik8s.conf'));
  const second = await given('existing');
  assert.deepEqual([second.result, second.warnings, second.calls.length], [undefined, [], 1]);
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
