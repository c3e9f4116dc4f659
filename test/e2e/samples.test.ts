/** The samples, by the commands of their READMEs: what is written there happens. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExecError, systemExec } from '../../src/base/exec.ts';
import { makeNginxImage } from '../fixtures/nginx-image.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { commandsOf, type SampleCommand } from '../fixtures/sample-readme.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { waitFor } from './harness/wait-for.ts';

const root = join(import.meta.dirname, '../..');
const image = `minik8s-test/samples-nginx:${process.pid}`;
const runtimes = {
  python: `minik8s-test/samples-python:${process.pid}`,
  nodejs: `minik8s-test/samples-nodejs:${process.pid}`,
};
const samples = readdirSync(join(root, 'samples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({
    name,
    commands: commandsOf(readFileSync(join(root, 'samples', name, 'README.md'), 'utf8')),
  }));
/** Others would find the node closed meanwhile. */
const needsAll = ({ commands }: (typeof samples)[number]) =>
  commands.some(({ command }) => command.startsWith('ctl drain'));

test('samples', { concurrency: 4 }, async (context) => {
  const images = [image, runtimes.python, runtimes.nodejs];
  context.after(() => docker('image', 'rm', '-f', ...images).then(() => undefined));
  await Promise.all([
    makeNginxImage(image),
    makeRuntimeImage('python', runtimes.python),
    makeRuntimeImage('nodejs', runtimes.nodejs),
  ]);
  const host = await Host.start(context, { images: [helloImage, ...images] });
  const manifests = join(host.directory, 'manifests');
  mkdirSync(manifests);
  const flags = [
    ...['--nginx-image', image, '--pod-manifest-path', manifests],
    ...['--python-image', runtimes.python, '--nodejs-image', runtimes.nodejs],
  ];
  const cluster = await Cluster.start(context, { host, flags });
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig, MANIFESTS: manifests };
  /** All that it prints, and whether it ended well. */
  const shell = async (command: string) => {
    const script = `ctl() { '${executable}' ctl "$@"; }\n${command}`;
    const options = { env, cwd: root, timeoutMs: 150_000 };
    try {
      const { stdout, stderr } = await systemExec(...host.command('bash', ['-c', script]), options);
      return { code: 0, said: stdout + stderr };
    } catch (error) {
      if (!(error instanceof ExecError) || error.failure.code === undefined) throw error;
      const { code, stdout, stderr } = error.failure;
      return { code, said: stdout + stderr };
    }
  };
  const carryOut = async ({ command, says }: SampleCommand) => {
    if (says === undefined) {
      const { code, said } = await shell(command);
      return assert.equal(code, 0, `${command}\n${said}`);
    }
    const once = async () => {
      const { said } = await shell(command);
      if (!says.test(said)) throw new Error(said);
      return true;
    };
    await waitFor(`${command} says ${says}`, once, { timeoutMs: 200_000, intervalMs: 300 });
  };
  const run = (some: typeof samples) =>
    Promise.all(
      some.map(({ name, commands }) =>
        context.test(name, async () => {
          for (const command of commands) await carryOut(command);
        }),
      ),
    );

  await run(samples.filter((sample) => !needsAll(sample)));
  await run(samples.filter(needsAll));
  await context.test('nothing is left of them', async () => {
    const left = async (...kinds: string[]) =>
      (await cluster.kubectl('get', kinds.join(','), '-o', 'name')).trim().split('\n').filter(Boolean);
    await waitFor('nothing is left', async () => {
      const all = await left(
        'all',
        'pvc',
        'pv',
        'configmap',
        'role',
        'rolebinding',
        'pdb',
        'hpa',
        'dns',
        'ns',
        'functions',
        'workflows',
      );
      const more = all.filter(
        (name) => !/^service\/kubernetes$|^configmap\/kube-root|^namespace\/(default|kube-)/.test(name),
      );
      if (more.length > 0) throw new Error(more.join(' '));
      return true;
    });
  });
});
