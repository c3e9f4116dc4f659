/** The dashboard in a real browser, on one cluster. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { makeRuntimeImage } from '../../fixtures/runtime-images.ts';
import { BrowserRig } from '../harness/browser.ts';
import { Cluster, executable } from '../harness/cluster.ts';
import { docker } from '../harness/docker.ts';
import { Host } from '../harness/host.ts';
import { helloImage } from '../harness/images.ts';
import { accessSteps } from './access-steps.ts';
import { editorSteps } from './editor-steps.ts';
import { fileSteps } from './file-steps.ts';
import { interruptionSteps } from './interruption-steps.ts';
import { objectSteps } from './object-steps.ts';
import { pageSteps } from './page-steps.ts';
import { rolloutSteps } from './rollout-steps.ts';
import { searchSteps } from './search-steps.ts';
import { severalSteps } from './several-steps.ts';
import type { Step } from './step.ts';
import { tableSteps } from './table-steps.ts';
import { trafficSteps } from './traffic-steps.ts';
import { workSteps } from './work-steps.ts';
import { populate, type World } from './world.ts';

/** In order: later steps delete what earlier ones look at, and the last one restarts the master. */
const steps: readonly Step[] = [
  ...accessSteps,
  ...tableSteps,
  ...severalSteps,
  ...searchSteps,
  ...pageSteps,
  ...rolloutSteps,
  ...trafficSteps,
  ...workSteps,
  ...fileSteps,
  ...objectSteps,
  ...editorSteps,
  ...interruptionSteps,
];

const python = `minik8s-test/dashboard-python:${process.pid}`;

test('the dashboard in a browser', async (context) => {
  await makeRuntimeImage('python', python);
  context.after(() => docker('image', 'rm', '-f', python).then(() => undefined));
  const host = await Host.start(context, { images: [helloImage, python] });
  const cluster = await Cluster.start(context, { host, flags: ['--python-image', python] });
  const [browser, tokens] = await Promise.all([BrowserRig.start(context, cluster.url), populate(cluster)]);
  const world: World = { cluster, host, browser, tokens };
  for (const { name, run } of steps) await context.test(name, () => run(world));

  await context.test('all files of the app have less than 500 KB together, compressed', () => {
    const { size } = statSync(join(dirname(executable), 'assets/dashboard.pack'));
    assert.ok(size > 100_000 && size < 500_000, `${size} bytes`);
  });

  await context.test('the pages obey the content security policy and throw no error', () => {
    const bad = browser.errors.filter((line) => /content security|uncaught/i.test(line));
    assert.deepEqual(bad, []);
  });
});
