/**
 * Images from a registry that requires a password, by the node agent on Docker; and image garbage collection.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { ImageGc } from '../../../src/kubelet/images/image-gc.ts';
import { ImageRecord } from '../../../src/kubelet/images/image-record.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { type Registry, startRegistry } from '../../fixtures/registry.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

const docker = (...args: string[]) => systemExec('docker', ['-H', `unix://${dockerSocket}`, ...args]);

describe('images from a registry', () => {
  let node: NodeHarness;
  let registry: Registry;
  let app: string;
  /** An image of the machine that no container uses and that the node did not pull. */
  const neighbour = `minik8s-test/neighbour:${process.pid}`;

  before(async () => {
    registry = await startRegistry();
    node = await startNodeHarness();
    app = `${registry.address}/team/app:1`;
    const { stdout } = await docker('create', node.images.busybox);
    await docker('commit', '--change', 'LABEL of=the-registry', stdout.trim(), app);
    await docker('rm', stdout.trim());
    await docker('tag', node.images.busybox, neighbour);
    const [user = '', ...password] = registry.login.split(':');
    await docker('login', '-u', user, '-p', password.join(':'), registry.address);
    await docker('push', app);
    await docker('logout', registry.address);
    await docker('rmi', app);
    await node.startAgent();
  });
  after(async () => {
    await node.close();
    await registry.stop();
    await docker('rmi', '-f', app).catch(() => undefined);
    await docker('rmi', neighbour);
  });

  const makeSecret = async (name: string, login: string) => {
    const auth = Buffer.from(login).toString('base64');
    const config = JSON.stringify({ auths: { [registry.address]: { auth } } });
    const answer = await node.server.call('POST', '/api/v1/namespaces/default/secrets', {
      metadata: { name },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': config },
    });
    assert.equal(answer.status, 201, answer.text);
  };
  const spec = (...secrets: string[]) => ({
    terminationGracePeriodSeconds: 0,
    imagePullSecrets: secrets.map((name) => ({ name })),
    containers: [{ name: 'main', image: app, command: ['sleep', '1000'] }],
  });

  it('are unavailable to a pod without the password, which waits with the reason', async () => {
    await makeSecret('wrong', 'puller:guessed');
    await node.createPod('stranger', spec('missing', 'wrong'));
    const pod = await node.waitFor('stranger', ({ status }) =>
      ['ErrImagePull', 'ImagePullBackOff'].includes(
        status?.containerStatuses?.[0]?.state?.waiting?.reason ?? '',
      ),
    );
    assert.equal(pod.status?.phase, 'Pending');
    const said = node.events.join('\n');
    assert.match(
      said,
      /FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets \(missing\); /,
    );
    assert.match(
      said,
      /^Failed Failed to pull image "127\.0\.0\.1:\d+\/team\/app:1": .*(?:unauthorized|no basic auth)/im,
    );
    assert.match(said, /^Failed Error: ErrImagePull$/m);
    // The back-off is longer after the second attempt.
    const later = await node.waitFor(
      'stranger',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ImagePullBackOff',
    );
    assert.match(
      later.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '',
      /^Back-off pulling image "127\.0\.0\.1:\d+\/team\/app:1": ErrImagePull: /,
    );
    assert.match(node.events.join('\n'), /^BackOff Back-off pulling image /m);
    assert.ok(!node.events.join('\n').includes('guessed'));
  });

  it('are pulled with the password of the pod, whichever of its secrets has it', async () => {
    await makeSecret('right', registry.login);
    await node.createPod('friend', spec('wrong', 'right'));
    await node.waitFor('friend', isReady);
    const pulled = node.events.find((event) => event.startsWith('Pulled Successfully'));
    assert.match(
      pulled ?? '',
      /^Pulled Successfully pulled image "127\S+" in [\d.]+m?s \([\d.]+m?s including waiting\)\. Image size: \d+ bytes\.$/,
    );
  });

  it('are removed when the disk is full and they are unused', async () => {
    const record = new ImageRecord({ dataDir: node.dataDir, clock: systemClock, log: silentLogger });
    const told: string[] = [];
    const gc = (available: number, minAgeMs = 0) =>
      new ImageGc({
        runtime: node.runtime,
        record,
        thresholds: { highPercent: 85, lowPercent: 80, minAgeMs },
        readUsage: async () => ({ size: 1000, available }),
        node: () => ({ kind: 'Node' }) as never,
        events: { event: (_about, _type, reason) => void told.push(reason) },
        clock: systemClock,
        log: silentLogger,
      });
    const isThere = async () => (await node.runtime.findImage(app)) !== undefined;
    await gc(150).collect();
    assert.ok(await isThere(), 'a container uses it');
    assert.deepEqual(told, ['FreeDiskSpaceFailed']);
    for (const name of ['friend', 'stranger']) {
      await node.server.call('DELETE', `/api/v1/namespaces/default/pods/${name}`);
      await node.waitForGone(name);
    }
    await gc(500).collect();
    assert.ok(await isThere(), 'there is room');
    await gc(150, 3_600_000).collect();
    assert.ok(await isThere(), 'it is new');
    // The container may still be terminating.
    await eventually(async () => {
      await gc(150).collect();
      assert.equal(await isThere(), false);
    });
    const left = (await node.runtime.listImages()).flatMap(({ names }) => names);
    assert.ok(left.includes(neighbour), 'an image that the node did not pull stays');
  });
});
