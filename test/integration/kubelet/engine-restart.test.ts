/** A Docker engine of the test's own is killed and restarted under a running node. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { makeDirectory } from '../../e2e/harness/belongings.ts';
import { processesNaming } from '../../e2e/harness/processes.ts';
import { makeTestImages } from '../../fixtures/docker-images.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';
import { OwnDocker } from './own-docker.ts';

await lockMachine();

/**
 * Starts a node on an engine with these options; `restart` kills the engine and restarts it once the node has
 * noticed.
 */
function nodeOnOwnDocker(...options: readonly string[]) {
  let docker: OwnDocker;
  let node: NodeHarness;

  before(async () => {
    docker = new OwnDocker(makeDirectory('minik8s-dockerd-'), options);
    await docker.start();
    node = await startNodeHarness({ socketPath: docker.socketPath });
    await node.startAgent();
  });
  after(async () => {
    try {
      await docker.start();
      await node?.close();
    } finally {
      await docker.close();
    }
  });

  const readiness = async () => {
    const { json } = await node.server.call('GET', '/api/v1/nodes/node-1');
    const { conditions = [] } = json<{ status: { conditions?: { type: string; status: string }[] } }>()
      .status;
    return conditions.find(({ type }) => type === 'Ready')?.status;
  };
  return {
    get node() {
      return node;
    },
    /** Creates a pod; the pod mounts an image where the engine supports that. */
    async runPod() {
      const { canMountImages } = await node.runtime.version();
      const tools = { reference: node.images.busybox, pullPolicy: 'Never' };
      const page = canMountImages ? 'test -e /tools/bin/busybox && echo served' : 'echo served';
      await node.createPod('web', {
        terminationGracePeriodSeconds: 1,
        ...(canMountImages && { volumes: [{ name: 'tools', image: tools }] }),
        containers: [
          {
            name: 'main',
            image: node.images.busybox,
            imagePullPolicy: 'Never',
            command: ['sh', '-c', `mkdir /www; ${page} >/www/index.html; exec httpd -f -p 8080 -h /www`],
            ...(canMountImages && { volumeMounts: [{ name: 'tools', mountPath: '/tools' }] }),
          },
        ],
      });
      return node.waitFor('web', isReady);
    },
    async restart(meanwhile = async () => {}) {
      await docker.kill();
      await eventually(async () => assert.equal(await readiness(), 'False'));
      await meanwhile();
      await docker.start();
      await eventually(async () => assert.equal(await readiness(), 'True'));
    },
    /**
     * Creates a pod whose first init container waits for a file. `story` returns the names of its containers
     * in the order in which they started.
     */
    async runSteps() {
      const log = join(docker.directory, 'steps');
      await mkdir(log);
      const container = (name: string, script: string) => ({
        name,
        image: node.images.busybox,
        imagePullPolicy: 'Never',
        command: ['sh', '-c', `echo ${name} >> /log/story; ${script}`],
        volumeMounts: [{ name: 'log', mountPath: '/log' }],
      });
      await node.createPod('steps', {
        terminationGracePeriodSeconds: 1,
        volumes: [{ name: 'log', hostPath: { path: log } }],
        initContainers: [
          container('one', 'while ! test -e /log/go; do sleep 0.1; done'),
          container('two', 'true'),
        ],
        containers: [container('main', 'sleep 1000')],
      });
      const story = async () => (await readFile(join(log, 'story'), 'utf8')).trim().split('\n');
      await eventually(async () => assert.deepEqual(await story(), ['one']));
      // The engine records that a container runs after its program has started. If it is killed before that,
      // the run is not recorded.
      await node.waitFor(
        'steps',
        ({ status }) => status?.initContainerStatuses?.[0]?.state?.running !== undefined,
      );
      return { story, go: () => writeFile(join(log, 'go'), '') };
    },
    /** Waits until the pod is Ready and its container has been restarted this many times. */
    restarted: (times: number) =>
      node.waitFor(
        'web',
        (pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.restartCount === times,
      ),
  };
}

describe('a node whose Docker engine is killed', () => {
  const on = nodeOnOwnDocker();

  it('is not ready while the engine is away, and then has its pods again', async () => {
    await on.runPod();
    await on.restart();
    const pod = await on.restarted(1);
    const answer = await eventually(() => fetch(`http://${pod.status?.podIP}:8080/`));
    assert.equal((await answer.text()).trim(), 'served');
  });

  it('runs the init containers again from the first, because their sandbox was lost', async () => {
    const { story, go } = await on.runSteps();
    await on.restart();
    await go();
    await on.node.waitFor('steps', isReady);
    await eventually(async () => assert.deepEqual(await story(), ['one', 'one', 'two', 'main']));
  });
});

describe('a node whose Docker engine, with live-restore, is killed', () => {
  const on = nodeOnOwnDocker('--live-restore');

  it('continues init containers, including one that ended in the meantime', async () => {
    const { story, go } = await on.runSteps();
    await on.restart(go);
    const pod = await on.node.waitFor('steps', isReady);
    await eventually(async () => assert.deepEqual(await story(), ['one', 'two', 'main']));
    assert.deepEqual(
      pod.status?.initContainerStatuses?.map(({ restartCount }) => restartCount),
      [0, 0],
    );
  });

  it('keeps its pods, and they can be used as before', async () => {
    const idOf = (pod: Pod) =>
      pod.status?.containerStatuses?.[0]?.containerID?.replace('docker://', '') ??
      assert.fail('no container');
    const before = await on.runPod();
    await on.restart();
    const pod = await on.restarted(0);
    assert.equal(idOf(pod), idOf(before));
    const streams = {
      stdin: undefined,
      stdout: undefined,
      stderr: undefined,
      sizes: (async function* () {})(),
    };
    const command = ['sh', '-c', 'test "$(cat /www/index.html)" = served && exit 7'];
    const signal = AbortSignal.timeout(120_000);
    assert.equal(await on.node.runtime.exec(idOf(pod), { command, tty: false }, streams, signal), 7);
    await on.node.runtime.kill(idOf(pod));
    const again = await on.restarted(1);
    assert.equal(again.status?.podIP, before.status?.podIP, 'the sandbox stayed');
    // The page is served a moment after its file exists.
    await eventually(async () => {
      const answer = await fetch(`http://${again.status?.podIP}:8080/`);
      assert.equal((await answer.text()).trim(), 'served');
    });
  });
});

describe('an engine of these tests', () => {
  it('leaves no process behind when its containers keep running after it was killed', async () => {
    const docker = new OwnDocker(makeDirectory('minik8s-dockerd-'), []);
    try {
      await docker.start();
      const { busybox } = await makeTestImages(`left-${process.pid}`, docker.socketPath);
      const run = ['run', '--detach', '--network', 'none', busybox, 'sleep', '1000'];
      await systemExec('docker', ['-H', `unix://${docker.socketPath}`, ...run]);
      await docker.kill();
    } finally {
      await docker.close();
    }
    assert.deepEqual(processesNaming(docker.directory), []);
  });
});
