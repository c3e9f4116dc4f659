/** The samples that the one file writes, by the commands of their READMEs: the described results occur. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { makeNginxImage } from '../fixtures/nginx-image.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { commandsOf } from '../fixtures/sample-readme.ts';
import { Cluster, executable } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { carryOut, root } from './harness/readme-commands.ts';
import { waitFor } from './harness/wait-for.ts';

const image = `minik8s-test/samples-nginx:${process.pid}`;
const runtimes = {
  python: `minik8s-test/samples-python:${process.pid}`,
  nodejs: `minik8s-test/samples-nodejs:${process.pid}`,
};
const samples = readdirSync(join(root, 'samples'), { withFileTypes: true })
  // The Slurm samples require a Slurm (slurm.test.ts), and the image of Prometheus is large
  // (monitoring-sample.test.ts).
  .filter((entry) => entry.isDirectory() && !/^(slurm-|monitoring$)/.test(entry.name))
  .map(({ name }) => ({
    name,
    commands: commandsOf(readFileSync(join(root, 'samples', name, 'README.md'), 'utf8')),
  }));
/** Other samples would find the node unschedulable meanwhile. */
const needsAll = ({ commands }: (typeof samples)[number]) =>
  commands.some(({ command }) => command.startsWith('ctl drain'));

/** Objects that a cluster has without samples; the definitions are those of the Gateway API. */
const own =
  /^service\/kubernetes$|^configmap\/kube-root|^namespace\/(default|kube-)|\.gateway\.networking\.k8s\.io$/;

test('the samples give the results that their READMEs describe', { concurrency: 4 }, async (context) => {
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
  const folder = join(host.directory, 'minik8s-samples');
  await systemExec(executable, ['samples', folder]);
  const place = { host, env: { KUBECONFIG: cluster.kubeconfig, MANIFESTS: manifests }, folder };
  const run = (some: typeof samples) =>
    Promise.all(some.map(({ name, commands }) => context.test(name, () => carryOut(place, commands))));

  await run(samples.filter((sample) => !needsAll(sample)));
  await run(samples.filter(needsAll));
  await context.test('the samples leave nothing behind', async () => {
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
        'crd',
        'ns',
        'functions',
        'workflows',
      );
      const more = all.filter((name) => !own.test(name));
      if (more.length > 0) throw new Error(more.join(' '));
      return true;
    });
  });
});
