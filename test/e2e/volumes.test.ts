/** Persistent volumes in real pods: they are bound, and their data outlive pods. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type {
  CoreV1EventList,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
} from '@kubernetes/client-node';
import { systemExec } from '../../src/os/exec.ts';
import { Cluster } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { waitFor } from './harness/wait-for.ts';

test('pods use persistent volumes', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;
  const folder = await mkdtemp(join(tmpdir(), 'minik8s-e2e-volumes-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const apply = (object: object) => kubectl.attempt(['apply', '-f', '-'], { input: JSON.stringify(object) });
  const [node = ''] = (await kubectl('get', 'nodes', '-o', 'name')).trim().replace('node/', '').split('\n');
  const addVolume = (name: string, spec: object) =>
    apply({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: name, ...spec },
    });
  const addClaim = (name: string, spec: object = {}) =>
    apply({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } }, ...spec },
    });
  const addPod = (
    name: string,
    script: string,
    more: { spec?: object; source?: object; mount?: object } = {},
  ) =>
    apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'main',
            image: helloImage,
            command: ['sh', '-c', script],
            volumeMounts: [{ name: 'data', mountPath: '/data', ...more.mount }],
          },
        ],
        volumes: [{ name: 'data', ...(more.source ?? { persistentVolumeClaim: { claimName: 'c' } }) }],
        ...more.spec,
      },
    });
  const ended = async (name: string) => {
    const pod = await waitFor(`the end of pod ${name}`, async () => {
      const found = await kubectl.json<V1Pod>('get', 'pod', name);
      return ['Succeeded', 'Failed'].includes(found.status?.phase ?? '') && found;
    });
    const log = await kubectl('logs', name);
    await kubectl('delete', 'pod', name);
    return { phase: pod.status?.phase, log: log.trim() };
  };
  const claimNow = (name: string) => kubectl.json<V1PersistentVolumeClaim>('get', 'pvc', name);
  const bound = (name: string) =>
    waitFor(`claim ${name} is bound`, async () => {
      const found = await claimNow(name);
      return found.status?.phase === 'Bound' && found;
    });
  const told = (name: string, event: RegExp) =>
    waitFor(`an event like ${event} of ${name}`, async () =>
      (
        await kubectl.json<CoreV1EventList>(
          'get',
          'events',
          '--field-selector',
          `involvedObject.name=${name}`,
        )
      ).items.some(({ reason, message }) => event.test(`${reason} ${message}`)),
    );

  await context.test('a pod reads the data that another pod wrote', async () => {
    await addVolume('shelf', { hostPath: { path: join(folder, 'shelf'), type: 'DirectoryOrCreate' } });
    await addClaim('c', { storageClassName: 'shelf' });
    await bound('c');
    await addPod('writer', 'echo kept > /data/file');
    assert.equal((await ended('writer')).phase, 'Succeeded');
    await addPod('reader', 'cat /data/file');
    assert.deepEqual(await ended('reader'), { phase: 'Succeeded', log: 'kept' });
    assert.equal(await readFile(join(folder, 'shelf', 'file'), 'utf8'), 'kept\n');
  });

  await context.test('a subPath of a volume is written, and a read-only one is not', async () => {
    const script = 'cat /data/inner; touch /data/new && echo wrote';
    await writeFile(join(folder, 'shelf', 'inner'), 'in part');
    await addPod('careful', script, {
      source: { persistentVolumeClaim: { claimName: 'c', readOnly: true } },
    });
    const { log } = await ended('careful');
    assert.match(log, /in part/);
    assert.ok(!log.includes('wrote'));
    await addPod('part', 'echo of a part > /data/there', { mount: { subPath: 'deep/er' } });
    assert.equal((await ended('part')).phase, 'Succeeded');
    assert.equal(await readFile(join(folder, 'shelf/deep/er/there'), 'utf8'), 'of a part\n');
  });

  await context.test('a local volume must exist on the node, and gets the group of the pod', async () => {
    const path = join(folder, 'disk');
    const nodeAffinity = {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
        ],
      },
    };
    await addVolume('disk', { local: { path }, nodeAffinity });
    await addClaim('local', { storageClassName: 'disk' });
    await bound('local');
    const source = { persistentVolumeClaim: { claimName: 'local' } };
    const spec = { securityContext: { fsGroup: 4321, runAsUser: 99 } };
    await addPod('grouped', 'id -G; echo mine > /data/mine && cat /data/old', { source, spec });
    await told(
      'grouped',
      /^FailedMount MountVolume.SetUp failed for volume "data" : path ".*disk" does not exist/,
    );
    await mkdir(join(path, 'inner'), { recursive: true });
    await writeFile(join(path, 'old'), 'there before', { mode: 0o600 });
    await writeFile(join(folder, 'outside'), '', { mode: 0o600 });
    await symlink(join(folder, 'outside'), join(path, 'link'));
    const { phase, log } = await ended('grouped');
    assert.equal(phase, 'Succeeded', log);
    assert.match(log, /4321.*\nthere before$/s);
    assert.equal((await stat(join(path, 'inner'))).gid, 4321);
    const outside = await stat(join(folder, 'outside'));
    assert.deepEqual([outside.gid, outside.mode & 0o777], [0, 0o600]);
  });

  await context.test('an unused claim and its volume are deleted, and the data stays', async () => {
    await addPod('user', 'sleep 1000');
    await waitFor(
      'it runs',
      async () => (await kubectl.json<V1Pod>('get', 'pod', 'user')).status?.phase === 'Running',
    );
    await kubectl('delete', 'pvc', 'c', '--wait=false');
    assert.ok((await claimNow('c')).metadata?.deletionTimestamp);
    await kubectl('delete', 'pod', 'user');
    await waitFor('the volume is released', async () => {
      const { status } = await kubectl.json<V1PersistentVolume>('get', 'pv', 'shelf');
      return status?.phase === 'Released';
    });
    await kubectl('delete', 'pv', 'shelf');
    assert.ok(existsSync(join(folder, 'shelf', 'file')));
  });

  await context.test('a share that this machine cannot mount is reported', async () => {
    await addPod('far', 'true', { source: { nfs: { server: '127.0.0.1', path: '/nowhere' } } });
    await told(
      'far',
      /^FailedMount MountVolume.SetUp failed for volume "data" : mounting 127.0.0.1:\/nowhere failed: /,
    );
    await kubectl('delete', 'pod', 'far');
  });

  await context.test(
    'a claim without a class gets a folder of the node, which is removed with the claim',
    async () => {
      await addClaim('made', { resources: { requests: { storage: '1Mi' } } });
      const source = { persistentVolumeClaim: { claimName: 'made' } };
      await addPod('first', 'echo kept > /data/file; ln -s / /data/root; ln -s .. /data/up', {
        source,
        spec: { securityContext: { runAsUser: 99 } },
      });
      assert.equal((await ended('first')).phase, 'Succeeded');
      const volume = (await claimNow('made')).spec?.volumeName ?? '';
      await addPod('measured', 'sleep 1000', { source });
      const stats = async () => {
        const text = await kubectl('get', '--raw', `/api/v1/nodes/${node}/proxy/stats/summary`);
        const { pods } = JSON.parse(text) as {
          pods: { volume?: { pvcRef?: { name: string }; capacityBytes: number }[] }[];
        };
        return pods.flatMap(({ volume: found = [] }) => found).find(({ pvcRef }) => pvcRef?.name === 'made');
      };
      await waitFor('its size in the stats', async () => ((await stats())?.capacityBytes ?? 0) > 0);
      await kubectl('delete', 'pod', 'measured');
      const path = (await kubectl.json<V1PersistentVolume>('get', 'pv', volume)).spec?.local?.path ?? '';
      await addPod('second', 'cat /data/file', { source });
      assert.equal((await ended('second')).log, 'kept');
      assert.equal(await readFile(join(path, 'file'), 'utf8'), 'kept\n');
      await kubectl('patch', 'pvc', 'made', '-p', '{"spec":{"resources":{"requests":{"storage":"5Mi"}}}}');
      await waitFor('the new size', async () => (await claimNow('made')).status?.capacity?.storage === '5Mi');
      await kubectl('delete', 'pvc', 'made');
      await waitFor('the removal of the volume', async () => !(await kubectl('get', 'pv')).includes(volume));
      assert.equal(existsSync(path), false);
      assert.ok(existsSync('/etc'));
    },
  );

  await context.test('the data of a volume are present after a restart of the agent', async () => {
    await addClaim('stays');
    const source = { persistentVolumeClaim: { claimName: 'stays' } };
    await addPod('holder', 'echo before > /data/file; sleep 1000', { source });
    const running = () =>
      waitFor('it runs', async () => {
        const { status } = await kubectl.json<V1Pod>('get', 'pod', 'holder');
        return status?.phase === 'Running' && status.containerStatuses?.[0];
      });
    const { containerID } = await running();
    await cluster.end('SIGKILL');
    await cluster.up();
    await addPod('beside', 'cat /data/file; echo after >> /data/file', { source });
    assert.deepEqual(await ended('beside'), { phase: 'Succeeded', log: 'before' });
    const now = await running();
    assert.deepEqual([now.containerID, now.restartCount], [containerID, 0]);
    assert.equal((await kubectl('exec', 'holder', '--', 'cat', '/data/file')).trim(), 'before\nafter');
    await kubectl('delete', 'pod', 'holder');
    await kubectl('delete', 'pvc', 'stays');
  });

  await context.test('a volume that is recycled is empty for the next claim', async () => {
    const path = join(folder, 'again');
    await addVolume('again', {
      hostPath: { path, type: 'DirectoryOrCreate' },
      persistentVolumeReclaimPolicy: 'Recycle',
    });
    await addClaim('one', { storageClassName: 'again' });
    await bound('one');
    const script =
      'mkdir -p /data/deep/er; echo mine > /data/deep/er/file; ln -s / /data/root; ln -s .. /data/up';
    await addPod('one', script, { source: { persistentVolumeClaim: { claimName: 'one' } } });
    assert.equal((await ended('one')).phase, 'Succeeded');
    await addClaim('two', { storageClassName: 'again' });
    await kubectl('delete', 'pvc', 'one');
    await bound('two');
    await told('again', /^VolumeRecycled Volume recycled$/);
    await addPod('two', 'ls -A /data', { source: { persistentVolumeClaim: { claimName: 'two' } } });
    assert.deepEqual(await ended('two'), { phase: 'Succeeded', log: '' });
    assert.ok(existsSync(join(folder, 'shelf', 'file')));
  });

  await context.test('a pod whose claim cannot be bound reports why it waits', async () => {
    await addClaim('wide', { accessModes: ['ReadWriteMany'] });
    await told('wide', /^ProvisioningFailed .* access mode ReadWriteMany is not supported/);
    await addPod('wide', 'true', { source: { persistentVolumeClaim: { claimName: 'wide' } } });
    await told(
      'wide',
      /^FailedScheduling 0\/1 nodes are available: .* access mode ReadWriteMany is not supported/,
    );
    await kubectl('delete', 'pod', 'wide');
  });

  await context.test('a volume of mode Block is a block device in the container', async () => {
    const image = join(folder, 'image');
    await writeFile(image, Buffer.from('first bytes'.padEnd(1 << 20, '\0')));
    const device = (await systemExec('losetup', ['--find', '--show', image])).stdout.trim();
    try {
      const nodeAffinity = {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
          ],
        },
      };
      await addVolume('raw', { local: { path: device }, volumeMode: 'Block', nodeAffinity });
      await addClaim('raw', { storageClassName: 'raw', volumeMode: 'Block' });
      await bound('raw');
      const script =
        'test -b /dev/mine && head -c 11 /dev/mine; printf second | dd of=/dev/mine conv=notrunc';
      await addPod('block', script, {
        source: { persistentVolumeClaim: { claimName: 'raw' } },
        spec: {
          containers: [
            {
              name: 'main',
              image: helloImage,
              command: ['sh', '-c', script],
              volumeDevices: [{ name: 'data', devicePath: '/dev/mine' }],
            },
          ],
        },
      });
      const { phase, log } = await ended('block');
      assert.equal(phase, 'Succeeded', log);
      assert.match(log, /first bytes/);
      await systemExec('sync', [device]);
      assert.match((await readFile(device)).subarray(0, 11).toString(), /^second/);
    } finally {
      await systemExec('losetup', ['--detach', device]);
    }
  });
});
