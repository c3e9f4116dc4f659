/**
 * Comparison with kube-state-metrics: our page contains every line that kube-state-metrics reports for a
 * cluster with objects of each kind, with the same value. MINIK8S_KUBE_STATE_METRICS is the path of its
 * program.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { objectKinds } from '../../src/kube-apiserver/object-metrics/object-kinds.ts';
import { objectMetricsPath } from '../../src/kube-apiserver/object-metrics/page.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { type ReadFamily, readExposition } from '../fixtures/exposition-reader.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHttpsTestServer } from '../fixtures/https-api-server.ts';
import { makeToldObjects, toldServer } from '../fixtures/measured-objects/make.ts';

const program = process.env.MINIK8S_KUBE_STATE_METRICS;
const skip = !program && 'MINIK8S_KUBE_STATE_METRICS does not say where kube-state-metrics is';
const resources = objectKinds.filter(({ ref }) => ref.group !== 'minik8s.io').map(({ ref }) => ref.plural);

/** Returns the kinds that have no metrics yet. */
function missingKinds(families: Map<string, ReadFamily>): string[] {
  const told = [...families].filter(([, { samples }]) => samples.size > 0).map(([name]) => name);
  return objectKinds
    .filter(({ ref }) => ref.group !== 'minik8s.io')
    .filter((kind) => !kind.families.some(({ name }) => told.includes(name)))
    .map(({ ref }) => ref.kind);
}

test('the page of minik8s has every line of kube-state-metrics', { skip, timeout: 180_000 }, async () => {
  const server = await startHttpsTestServer(toldServer);
  await makeToldObjects(server);
  const kubeconfig = await server.kubeconfigFor('admin', ['system:masters']);
  const [port, own] = [await freePort(), await freePort()];
  const child = spawn(
    program as string,
    [
      `--kubeconfig=${kubeconfig}`,
      `--resources=${resources.join(',')}`,
      '--host=127.0.0.1',
      `--port=${port}`,
      '--telemetry-host=127.0.0.1',
      `--telemetry-port=${own}`,
    ],
    { stdio: 'ignore' },
  );
  try {
    let theirs = new Map<string, ReadFamily>();
    await waitFor('kube-state-metrics to report every kind', async () => {
      if (child.exitCode !== null) throw new Error(`kube-state-metrics ended with ${child.exitCode}`);
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
      if (!answer?.ok) return false;
      theirs = readExposition(await answer.text());
      return missingKinds(theirs).length === 0;
    });
    const ours = readExposition((await server.call('GET', objectMetricsPath)).text);
    const different: string[] = [];
    let same = 0;
    for (const [name, { type, samples }] of theirs) {
      const own = ours.get(name);
      if (samples.size > 0 && own?.type !== type) different.push(`${name} is a ${type}, here ${own?.type}`);
      for (const [sample, value] of samples) {
        const found = own?.samples.get(sample);
        if (found === value) same++;
        else different.push(`${sample} ${value}, here ${found}`);
      }
    }
    assert.deepEqual(different, []);
    assert.ok(same > 500, `${same} lines`);
  } finally {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await server.stop();
  }
});
