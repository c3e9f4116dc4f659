/**
 * Image volumes, by the node agent on Docker: mounted by an engine that supports them (28 or newer, see
 * bin/with-docker), and held back by an engine that does not.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { isAtLeast } from '../../../src/docker/api-version.ts';
import { dockerClient } from '../../../src/docker/client.ts';
import { ImageGc } from '../../../src/kubelet/images/image-gc.ts';
import { ImageRecord } from '../../../src/kubelet/images/image-record.ts';
import { imageMountApi } from '../../../src/kubelet/runtime/image-mounts.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { importImage } from '../../fixtures/image-root.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { type Registry, startRegistry } from '../../fixtures/registry.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

const docker = (...args: string[]) => systemExec('docker', ['-H', `unix://${dockerSocket}`, ...args]);
const { ApiVersion } = await dockerClient(dockerSocket).version();
const canMount = isAtLeast(ApiVersion, imageMountApi);

const volume = (reference: string, more: object = {}) => ({ name: 'data', image: { reference, ...more } });
const waiting = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.waiting;

describe('a volume that is an image', () => {
  let node: NodeHarness;
  let registry: Registry;
  let data: string;
  before(async () => {
    registry = await startRegistry();
    node = await startNodeHarness();
    data = `${registry.address}/team/data:1`;
    const directory = await mkdtemp(join(tmpdir(), 'minik8s-data-'));
    const root = join(directory, 'root');
    await mkdir(join(root, 'conf/deep'), { recursive: true });
    await writeFile(join(root, 'greeting'), 'hello\n');
    await writeFile(join(root, 'conf/deep/one'), 'first\n');
    await importImage(root, data, []);
    await rm(directory, { recursive: true });
    const [user = '', ...password] = registry.login.split(':');
    await docker('login', '-u', user, '-p', password.join(':'), registry.address);
    await docker('push', data);
    await docker('logout', registry.address);
    await docker('rmi', data);
    const auth = Buffer.from(registry.login).toString('base64');
    const config = JSON.stringify({ auths: { [registry.address]: { auth } } });
    await node.server.call('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name: 'login' },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': config },
    });
    await node.startAgent({ sandboxPool: 0 });
  });
  after(async () => {
    await node.close();
    await registry.stop();
    await docker('rmi', '-f', data).catch(() => undefined);
  });

  const container = (name: string, script: string, ...volumeMounts: object[]) => ({
    name,
    image: node.images.busybox,
    command: ['sh', '-c', `${script}; trap exit TERM; while true; do sleep 0.1; done`],
    volumeMounts,
  });
  const spec = (image: object, ...containers: object[]) => ({
    terminationGracePeriodSeconds: 0,
    imagePullSecrets: [{ name: 'login' }],
    volumes: [image],
    containers,
  });
  const logOf = async (pod: string, name: string) => {
    const { status } = await node.pod(pod);
    const { containerID = '' } = status?.containerStatuses?.find((one) => one.name === name) ?? {};
    return (await docker('logs', containerID.replace('docker://', ''))).stdout;
  };
  const end = async (name: string) => {
    await node.server.call('DELETE', `/api/v1/namespaces/default/pods/${name}`);
    await node.waitForGone(name);
  };
  /** Returns the paths on this machine where Docker keeps the images that the pod's containers mount. */
  const mountedAt = async (pod: string) => {
    const { status } = await node.pod(pod);
    const ids = (status?.containerStatuses ?? []).map(({ containerID = '' }) => containerID.slice(9));
    const { stdout } = await docker('inspect', ...ids);
    const found = JSON.parse(stdout) as { Mounts: { Type: string; Source: string }[] }[];
    return found.flatMap(({ Mounts }) =>
      Mounts.flatMap(({ Type, Source }) => (Type === 'image' ? Source : [])),
    );
  };
  const eventsOf = (text: string) => node.events.filter((event) => event.includes(text));

  if (!canMount) {
    it('keeps the pod waiting if the engine cannot mount it, and the message names the required version', async () => {
      const mount = { name: 'data', mountPath: '/data' };
      await node.createPod('held', spec(volume(data), container('main', 'true', mount)));
      const pod = await node.waitFor('held', (found) => waiting(found)?.reason === 'NotSupported');
      assert.match(
        waiting(pod)?.message ?? '',
        /spec\.volumes\[0\]\.image \(needs Docker 28 or newer on the node\)$/,
      );
      assert.deepEqual(eventsOf(data), []);
      await end('held');
    });
    return;
  }

  it('is pulled once with the pod’s password, and its containers mount all of it or a part', async () => {
    const first = container(
      'first',
      'cat /all/greeting /part/one; echo x > /all/greeting || echo kept; ls /all',
      { name: 'data', mountPath: '/all' },
      { name: 'data', mountPath: '/part', subPath: 'conf/deep' },
    );
    const second = {
      ...container('second', 'ls /named', { name: 'data', mountPath: '/named', subPathExpr: '$(PART)' }),
      env: [{ name: 'PART', value: 'conf' }],
    };
    await node.createPod('reader', spec(volume(data), first, second));
    await node.waitFor('reader', isReady);
    await eventually(async () => {
      assert.equal(await logOf('reader', 'first'), 'hello\nfirst\nkept\nconf\ngreeting\n');
      assert.equal(await logOf('reader', 'second'), 'deep\n');
    });
    assert.deepEqual(
      eventsOf(data).map((event) => event.replace(/ in .*/, '')),
      [`Pulling Pulling image "${data}"`, `Pulled Successfully pulled image "${data}"`],
    );
  });

  it('stays while a container mounts it, and is removed once it is unused and disk space is needed', async () => {
    const gc = new ImageGc({
      runtime: node.runtime,
      record: new ImageRecord({ dataDir: node.dataDir, clock: systemClock, log: silentLogger }),
      thresholds: { highPercent: 85, lowPercent: 80, minAgeMs: 0 },
      readUsage: async () => ({ size: 1000, available: 150 }),
      node: () => undefined,
      events: { event: () => undefined },
      clock: systemClock,
      log: silentLogger,
    });
    const isThere = async () => (await node.runtime.findImage(data)) !== undefined;
    await gc.collect();
    assert.ok(await isThere());
    const places = await mountedAt('reader');
    assert.equal(places.length, 3);
    const mountsNow = () => readFile('/proc/self/mounts', 'utf8');
    for (const place of places) assert.ok((await mountsNow()).includes(place));
    await end('reader');
    await eventually(async () => {
      for (const place of places) assert.ok(!(await mountsNow()).includes(place));
    });
    await eventually(async () => {
      await gc.collect();
      assert.equal(await isThere(), false);
    });
  });

  it('is looked up in the registry at each start of a container if its policy requires that', async () => {
    const mount = { name: 'data', mountPath: '/data' };
    await node.createPod(
      'asking',
      spec(volume(data, { pullPolicy: 'Always' }), container('main', 'true', mount)),
    );
    await node.waitFor('asking', isReady);
    const before = eventsOf(`Pulling image "${data}"`).length;
    const { status } = await node.pod('asking');
    await docker('kill', status?.containerStatuses?.[0]?.containerID?.replace('docker://', '') ?? '');
    await node.waitFor(
      'asking',
      (pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.restartCount === 1,
    );
    assert.equal(eventsOf(`Pulling image "${data}"`).length, before + 1);
    await end('asking');
  });

  it('keeps the container waiting if it has no such subPath, without details of the host in the message', async () => {
    const mount = { name: 'data', mountPath: '/data', subPath: 'absent' };
    await node.createPod('part', {
      ...spec(volume(data), container('main', 'true', mount)),
      restartPolicy: 'Never',
    });
    const pod = await node.waitFor('part', (found) => waiting(found)?.reason === 'CreateContainerError');
    assert.equal(waiting(pod)?.message, 'there is no "absent" of the image for /data');
    assert.ok(node.events.includes('Failed Error: there is no "absent" of the image for /data'));
    await end('part');
  });

  it('that cannot be pulled delays only the containers that mount it', async () => {
    const mount = { name: 'data', mountPath: '/data' };
    const missing = `${registry.address}/team/missing:1`;
    await node.createPod(
      'without',
      spec(volume(missing), container('main', 'true', mount), container('other', 'true')),
    );
    const pod = await node.waitFor(
      'without',
      (found) =>
        waiting(found)?.reason === 'ErrImagePull' &&
        found.status?.containerStatuses?.[1]?.state?.running !== undefined,
    );
    assert.notEqual(waiting(pod)?.message, '');
    assert.ok(node.events.includes('Failed Error: ErrImagePull'));
    const later = await node.waitFor('without', (found) => waiting(found)?.reason === 'ImagePullBackOff');
    assert.ok(waiting(later)?.message?.startsWith(`Back-off pulling image "${missing}": ErrImagePull: `));
    assert.ok(node.events.includes(`BackOff Back-off pulling image "${missing}"`));
    await end('without');
  });

  for (const [what, reference, pullPolicy, reason] of [
    ['its reference is invalid', 'UPPER:1', 'IfNotPresent', 'InvalidImageName'],
    ['the node does not have it and must not pull it', 'minik8s-test/absent:1', 'Never', 'ErrImageNeverPull'],
  ] as const)
    it(`keeps the containers that mount it waiting if ${what}`, async () => {
      const mount = { name: 'data', mountPath: '/data' };
      await node.createPod(
        'refused',
        spec(volume(reference, { pullPolicy }), container('main', 'true', mount)),
      );
      await node.waitFor('refused', (found) => waiting(found)?.reason === reason);
      await end('refused');
    });

  it('leaves nothing behind if the pod is deleted during the pull, also after a restart of the agent', async () => {
    const port = await freePort();
    const connections = new Set<{ destroy(): void }>();
    // A server that accepts connections and never answers.
    const mute = createServer((connection) => void connections.add(connection.on('error', () => undefined)));
    await new Promise<void>((resolve) => mute.listen(port, '127.0.0.1', resolve));
    try {
      const mount = { name: 'data', mountPath: '/data' };
      const reference = `127.0.0.1:${port}/slow:1`;
      const { metadata } = await node.createPod(
        'slow',
        spec(volume(reference), container('main', 'true', mount)),
      );
      const pulls = () => eventsOf(`Pulling image "${reference}"`).length;
      await eventually(async () => assert.equal(pulls(), 1));
      await node.stopAgent();
      await node.startAgent({ sandboxPool: 0 });
      await eventually(async () => assert.equal(pulls(), 2));
      await end('slow');
      const { uid } = metadata;
      await eventually(async () => {
        await assert.rejects(stat(join(node.dataDir, 'pods', uid)), { code: 'ENOENT' });
        assert.equal(
          (await docker('ps', '-aq', '--filter', `label=io.kubernetes.pod.uid=${uid}`)).stdout,
          '',
        );
      });
      const record = new ImageRecord({ dataDir: node.dataDir, clock: systemClock, log: silentLogger });
      assert.ok(![...(await record.images()).values()].some(({ names }) => names.includes(reference)));
    } finally {
      for (const connection of connections) connection.destroy();
      mute.close();
    }
  });
});
