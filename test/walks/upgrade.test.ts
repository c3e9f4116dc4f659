/**
 * A cluster of the previous version: its master is upgraded first, and works with a node of the previous
 * version. Then the node is upgraded, and finally the master returns to the previous version, with its
 * data. The previous version is built from the history of git, which a shallow clone lacks.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { BareMachine } from '../e2e/harness/bare-machine.ts';
import { executable } from '../e2e/harness/cluster.ts';
import { Hosts } from '../e2e/harness/hosts.ts';
import { standInForSystemd } from '../e2e/harness/stand-in-systemd.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';

const root = join(import.meta.dirname, '../..');
const commit = readFileSync(join(import.meta.dirname, 'previous-version'), 'utf8').trim();
const patient = { timeoutMs: 300_000 };

/** Builds the previous version in a directory of its own; resolves to the path of its file there. */
async function buildPrevious(directory: string): Promise<string> {
  const tree = join(directory, 'tree');
  const git = (...args: string[]) => systemExec('git', args, { cwd: root, timeoutMs: 60_000 });
  await git('worktree', 'add', '--detach', tree, commit);
  try {
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
    cpSync(join(root, 'dist/cache'), join(tree, 'dist/cache'), { recursive: true });
    await systemExec(process.execPath, ['build.ts'], { cwd: tree, timeoutMs: 600_000 });
    const file = join(directory, 'minik8s-previous');
    cpSync(join(tree, 'dist/minik8s'), file);
    return file;
  } finally {
    await git('worktree', 'remove', '--force', tree);
  }
}

const podsScript = `minik8s ctl get pods -l app=hello -o jsonpath='{range .items[*]}{.metadata.uid} {.status.containerStatuses[0].restartCount}{"\\n"}{end}'`;
const versionsScript = `minik8s ctl get nodes -o jsonpath='{range .items[*]}{.status.nodeInfo.kubeletVersion}{"\\n"}{end}'`;
const lines = (text: string) => text.trim().split('\n').sort();

test('a cluster of the previous version is upgraded, and returns to it', {
  timeout: 900_000,
}, async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-previous-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  const previous = await buildPrevious(directory);
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 2, { docker: false });
  try {
    const [master, node] = await Promise.all(
      hosts.all.map((host, index) => BareMachine.start(`vm${index + 1}`, host)),
    );
    assert.ok(master && node);
    await Promise.all([master.run('bin/make-images'), node.run('bin/make-images')]);
    await Promise.all([standInForSystemd(master), standInForSystemd(node)]);
    const [older, newer] = await Promise.all(
      [previous, executable].map(async (file) => (await master.run(`${file} version`)).stdout.trim()),
    );
    assert.ok(older && newer && older !== newer);
    const out = (await master.run(`${previous} install up --yes`, patient)).stdout;
    const [, variables = '', words = ''] = /(MINIK8S_TOKEN=\S+) \.\/minik8s install (.+)/.exec(out) ?? [];
    await node.run(`${variables} ${previous} install ${words} --yes`, patient);
    const rollout = 'minik8s ctl rollout status deployment hello --timeout=120s';
    await master.run(`minik8s ctl apply -f samples/hello && ${rollout}`, patient);
    const pods = lines((await master.run(podsScript)).stdout);
    const versions = async () =>
      lines((await master.run(versionsScript)).stdout).map((line) => line.split('-minik8s.')[1]);
    assert.deepEqual(await versions(), [older, older]);

    await context.test('a new master works with a node of the previous version', async () => {
      await master.run(`${executable} install up --yes`, patient);
      assert.deepEqual(new Set(await versions()), new Set([older, newer]));
      assert.deepEqual(lines((await master.run(podsScript)).stdout), pods, 'pods went on');
      await master.run('minik8s ctl cordon vm1 && minik8s ctl scale deployment hello --replicas=5');
      await master.run(rollout, patient);
      const fresh = await master.run(
        `minik8s ctl get pods -l app=hello --field-selector spec.nodeName=vm2 --sort-by=.metadata.creationTimestamp -o name | tail -1`,
      );
      const name = fresh.stdout.trim();
      assert.match(name, /^pod\/hello-/);
      assert.equal((await master.run(`minik8s ctl exec ${name} -- echo through`)).stdout.trim(), 'through');
      await master.run(`minik8s ctl logs ${name}`);
      await master.run('minik8s ctl uncordon vm1 && minik8s ctl scale deployment hello --replicas=3');
      await master.run(rollout, patient);
    });

    await context.test('the node is upgraded after its master', async () => {
      const before = lines((await master.run(podsScript)).stdout);
      await node.run(`${executable} install node --yes`, patient);
      await waitFor('both with the new version', async () =>
        (await versions()).every((version) => version === newer),
      );
      assert.deepEqual(lines((await master.run(podsScript)).stdout), before, 'pods went on');
    });

    await context.test('the master returns to the previous version with its data', async () => {
      const back = await master.run(`minik8s upgrade --file ${previous} --allow-downgrade --yes`, patient);
      assert.match(back.stdout, /convert the stored data back to format 0\n +format 0, without: /);
      assert.equal((await master.run('minik8s version')).stdout.trim(), older);
      await master.run(rollout, patient);
      assert.deepEqual(new Set(await versions()), new Set([older, newer]));
    });
  } finally {
    for (const close of closers) await close();
  }
});
