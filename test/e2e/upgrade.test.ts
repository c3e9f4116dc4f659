/**
 * docs/upgrade.md, followed to the letter on a master and a node; then versions that do not start there: both
 * machines return to the previous version.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BareMachine } from './harness/bare-machine.ts';
import { executable } from './harness/cluster.ts';
import { Hosts } from './harness/hosts.ts';
import { writeOtherVersion } from './harness/other-version.ts';
import { standInForSystemd } from './harness/stand-in-systemd.ts';
import { waitFor } from './harness/wait-for.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/upgrade.md'), 'utf8');

/** Returns the steps: each indented block that follows the name of the machine. */
const steps = [...page.matchAll(/^On vm1:\n\n((?: {4}.*\n)+)/gm)].map(([, block = '']) =>
  block.replaceAll(/^ {4}/gm, ''),
);

const patient = { timeoutMs: 240_000 };
const podsScript = `minik8s ctl get pods -l app=hello -o jsonpath='{range .items[*]}{.metadata.uid} {.status.containerStatuses[0].restartCount}{"\\n"}{end}'`;
const versionsScript = `minik8s ctl get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.status.nodeInfo.kubeletVersion}{"\\n"}{end}'`;

test('a cluster is upgraded by the commands of docs/upgrade.md, and returns to the previous version', {
  timeout: 600_000,
}, async (context) => {
  assert.equal(steps.length, 3);
  const [dryRun = '', upgrade = '', back = ''] = steps;
  const closers: (() => Promise<void>)[] = [];
  const hosts = await Hosts.start({ after: (fn) => closers.push(fn) }, 2, { docker: false });
  try {
    const [master, node] = await Promise.all(
      hosts.all.map((host, index) => BareMachine.start(`vm${index + 1}`, host)),
    );
    assert.ok(master && node);
    const directory = hosts.at(0).directory;
    const older = (await master.run(`${executable} version`)).stdout.trim();
    await Promise.all([master.run('bin/make-images'), node.run('bin/make-images')]);
    await Promise.all([standInForSystemd(master), standInForSystemd(node)]);
    const install = `${executable} install`;
    const settings = '--restart-hold 25s';
    const out = (await master.run(`${install} up --yes ${settings}`, patient)).stdout;
    const [, variables = '', join_ = ''] = /(MINIK8S_TOKEN=\S+) \.\/minik8s install (.+)/.exec(out) ?? [];
    assert.ok(join_, out);
    await node.run(`${variables} ${install} ${join_} --max-pods 77 --yes`, patient);
    await master.run(
      'minik8s ctl apply -f samples/hello && minik8s ctl rollout status deployment hello',
      patient,
    );
    const pods = (await master.run(podsScript)).stdout.split('\n').sort();
    const versions = async () => (await master.run(versionsScript)).stdout.trim().split('\n');
    const both = async () => (await versions()).map((line) => line.replace(/ .*-minik8s\./, ' '));
    assert.deepEqual(await both(), [`vm1 ${older}`, `vm2 ${older}`]);

    await context.test('the commands of docs/upgrade.md work', async () => {
      const next = await put(master, directory, 'x');
      const dry = (await master.run(dryRun, patient)).stdout;
      assert.match(dry, /create a backup.*replace .*restart .*node vm2: upgrade/s);
      assert.deepEqual(await both(), [`vm1 ${older}`, `vm2 ${older}`]);
      const done = (await master.run(upgrade, patient)).stdout;
      assert.match(done, /\.tar\.zst: \d+ keys at revision/);
      assert.match(done, new RegExp(`node vm2: Ready with ${next.replaceAll(/[.+]/g, '\\$&')}`));
      assert.deepEqual(await both(), [`vm1 ${next}`, `vm2 ${next}`]);
      assert.equal((await master.run(back, patient)).stdout.trim().split('\n').at(-1), older);
      assert.deepEqual(await both(), [`vm1 ${older}`, `vm2 ${next}`]);
      assert.deepEqual((await master.run(podsScript)).stdout.split('\n').sort(), pods, 'pods went on');
    });

    await context.test(
      'a version that does not start on the master is replaced by the previous version',
      async () => {
        await put(master, directory, 'y', { 'restart-hold': 'restart-hald' });
        const failed = await attempt(master, upgrade);
        assert.match(failed, /^error: restart the service minik8s, .*did not start: .*restart-hold/m);
        assert.ok(failed.includes(`${older} is installed and runs, as before`), failed);
        assert.equal((await master.run('minik8s version')).stdout.trim(), older);
        assert.equal((await both())[0], `vm1 ${older}`);
      },
    );

    await context.test(
      'a version that does not start on a node is replaced there by the previous version',
      async () => {
        const next = await put(master, directory, 'z', { 'max-pods': 'max-pods'.replace('o', 'a') });
        const before = (await both())[1];
        const failed = await attempt(master, upgrade);
        assert.match(failed, /^error: node vm2 was not upgraded: restart the service minik8s.*max-pods/m);
        assert.match(failed, /upgraded: none; not yet: none; to go on: minik8s upgrade --nodes/);
        await waitFor('vm2 with the previous version', async () => {
          const [first, second] = await both();
          return first === `vm1 ${next}` && second === before;
        });
      },
    );

    await context.test('a file that is not minik8s, or has another digest, is rejected', async () => {
      const refused = async (args: string) => attempt(master, `minik8s upgrade --yes ${args}`);
      assert.match(await refused('--file /bin/true'), /^error: \/bin\/true is no executable of minik8s: /m);
      assert.match(await refused('--file README.md'), /README\.md is not a Linux executable/);
      assert.match(await refused('--file /var/tmp/none'), /^error: \/var\/tmp\/none cannot be read: ENOENT/m);
      const digest = '0'.repeat(64);
      assert.match(await refused(`--file /bin/true --sha256 ${digest}`), /not the one of --sha256/);
      const left = (await master.run('ls /usr/local/bin')).stdout;
      assert.doesNotMatch(left, /minik8s-\d/);
    });

    await context.test('a user who may edit namespaces cannot order an upgrade', async () => {
      const order = { id: 'a', version: '9.9.9', sha256: 'a'.repeat(64), timeoutSeconds: 60 };
      const annotate = `minik8s ctl annotate node vm2 --overwrite 'minik8s.io/upgrade=${JSON.stringify(order)}'`;
      await master.run('minik8s ctl create clusterrolebinding editor --clusterrole=edit --user=editor');
      assert.match(await attempt(master, `${annotate} --as editor`), /forbidden/);
      assert.match(
        await attempt(master, `${annotate} --as system:node:vm1 --as-group system:nodes`),
        /forbidden/,
      );
    });
  } finally {
    for (const close of closers) await close();
  }
});

/** Puts a copy with another version on the machine, where the page expects it. */
async function put(
  machine: BareMachine,
  directory: string,
  letter: string,
  renames: Readonly<Record<string, string>> = {},
): Promise<string> {
  const path = join(directory, `minik8s-${letter}`);
  const version = await writeOtherVersion(path, letter, renames);
  await machine.run(`cp ${path} /var/tmp/minik8s-new`);
  return version;
}

/** Resolves to the output of a script that fails. */
async function attempt(machine: BareMachine, script: string): Promise<string> {
  const { stdout } = await machine.run(
    `set +e; ( set -e; ${script.trim()} ) 2>&1; [ $? != 0 ] || echo SUCCEEDED`,
    patient,
  );
  assert.doesNotMatch(stdout, /^SUCCEEDED$/m);
  return stdout;
}
