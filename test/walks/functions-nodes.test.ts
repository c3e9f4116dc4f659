/** Functions on three machines: built on each alike, called on all, and what a machine takes along when it goes. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { V1PodList } from '@kubernetes/client-node';
import { ExecError, systemExec } from '../../src/base/exec.ts';
import { executable } from '../e2e/harness/cluster.ts';
import { docker } from '../e2e/harness/docker.ts';
import { MultiCluster } from '../e2e/harness/multi-cluster.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { type PackageIndexes, startPackageIndexes } from '../fixtures/package-indexes.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';

const image = `minik8s-test/nodes-python:${process.pid}`;
/** The version of its library, and by which call it was called: one line of its log for each. */
const program = `import socket, time, lib
def handler(event, context):
    print("called", event["n"], flush=True)
    time.sleep(event.get("seconds", 0))
    return {"lib": lib.version, "pod": socket.gethostname()}
`;

test('functions on three machines', { timeout: 600_000 }, async (context) => {
  await makeRuntimeImage('python', image);
  context.after(() => docker('image', 'rm', '-f', image).then(() => undefined));
  const cluster = await MultiCluster.start(context, {
    images: [image],
    masterFlags: ['--python-image', image],
    nodes: [],
  });
  const { kubectl, hosts } = cluster;
  const indexes = await startIndexes(context, hosts.outside);
  for (const number of [0, 1, 2]) await cluster.join(number);
  const ctl = async (...args: string[]) => {
    const command = hosts.at(0).command(executable, ['ctl', '--kubeconfig', cluster.kubeconfig, ...args]);
    return (await systemExec(...command, { timeoutMs: 120_000 })).stdout;
  };
  const call = async (event: object) =>
    JSON.parse(await ctl('function', 'invoke', 'lib', JSON.stringify(event))) as { lib: string; pod: string };
  const pods = async () =>
    (await kubectl.json<V1PodList>('get', 'pods', '-l', 'minik8s.io/function=lib')).items;
  const nodeOf = async (pod: string) =>
    (await pods()).find(({ metadata }) => metadata?.name === pod)?.spec?.nodeName;
  const only = async (node: string) => {
    for (const { name } of cluster.nodes) await kubectl(name === node ? 'uncordon' : 'cordon', name);
  };
  const folder = join(cluster.masterDataDir, 'source');
  await mkdir(folder);
  await writeFile(join(folder, 'main.py'), program);
  await writeFile(join(folder, 'requirements.txt'), 'lib\n');

  await context.test(
    'what one machine installed every other installs, though there is a newer one',
    async () => {
      await indexes.addWheel('lib', '1.0');
      await only('node-0');
      const flags = ['--from', folder, '--idle-seconds', '600', '--concurrency', '1', '--max-scale', '6'];
      await ctl('function', 'create', 'lib', ...flags, '--wait');
      assert.equal((await call({ n: 'first' })).lib, '1.0');
      await indexes.addWheel('lib', '1.1');
      for (const node of ['node-1', 'node-2']) {
        await only(node);
        await kubectl('delete', 'pods', '-l', 'minik8s.io/function=lib', '--wait=true');
        const { lib, pod } = await call({ n: node });
        assert.deepEqual([lib, await nodeOf(pod)], ['1.0', node]);
      }
      const images = new Set((await pods()).map(({ spec }) => spec?.containers[0]?.image));
      assert.equal(images.size, 1);
    },
  );

  await context.test('calls at once are answered on several machines, each made once', async () => {
    for (const { name } of cluster.nodes) await kubectl('uncordon', name);
    const numbers = Array.from({ length: 24 }, (_, index) => `many-${index}`);
    const answers = await Promise.all(numbers.map((n) => call({ n, seconds: 1 })));
    const nodes = new Set(await Promise.all(answers.map(({ pod }) => nodeOf(pod))));
    assert.ok(nodes.size >= 2, `all were answered on ${[...nodes]}`);
    const logs = await Promise.all(
      (await pods()).map(({ metadata }) => kubectl('logs', metadata?.name ?? '', '--tail=-1')),
    );
    const called = logs.join('').match(/many-\d+/g) ?? [];
    assert.deepEqual(called.sort(), numbers.sort());
  });

  await context.test(
    'a machine that goes takes its calls along, and the next ones are answered',
    async () => {
      const gone = cluster.node('node-2');
      await only(gone.name);
      await kubectl('delete', 'pods', '-l', 'minik8s.io/function=lib', '--wait=true');
      assert.equal((await call({ n: 'before' })).lib, '1.0');
      const cut = call({ n: 'cut', seconds: 20 }).then(
        () => 'answered',
        (error: unknown) => (error instanceof ExecError ? error.failure.stderr : String(error)),
      );
      // Which instance has it nobody knows.
      await waitFor('the call to be made', async () => {
        const names = (await pods()).map(({ metadata }) => metadata?.name ?? '');
        const logs = await Promise.all(names.map((name) => kubectl.attempt(['logs', name])));
        return logs.some(({ stdout }) => stdout.includes('cut'));
      });
      await gone.role.end('SIGKILL');
      await hosts.cut(gone.host);
      for (const { name } of cluster.nodes) if (name !== gone.name) await kubectl('uncordon', name);
      // It is known to be gone once its lease is over.
      const next = await waitFor('the next call', () => call({ n: 'next' }).catch(() => undefined), {
        timeoutMs: 180_000,
      });
      assert.equal(next.lib, '1.0');
      assert.notEqual(await nodeOf(next.pod), gone.name);
      assert.match(await cut, /^(?!answered)./);
    },
  );
});

/** Nodes that are started afterwards install from it. */
async function startIndexes(context: TestContext, address: string): Promise<PackageIndexes> {
  const indexes = await startPackageIndexes(address);
  const settings = { PIP_INDEX_URL: indexes.pipIndex, PIP_TRUSTED_HOST: address };
  const before = Object.keys(settings).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, settings);
  context.after(async () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await indexes.stop();
  });
  return indexes;
}
