/** Files that a pod receives from the API, by the agent on this machine's kernel; mainly its token. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { isMountPoint, unmountUnder } from '../../../src/kubelet/volumes/mounts.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { claimsOf } from '../apiserver/account-world.ts';
import { eventually } from './node-harness.ts';
import { type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const inDefault = '/api/v1/namespaces/default';

describe('a volume or variable from the API', () => {
  let node: SimulatedNode;
  /** Milliseconds by which the agent's clock is ahead. */
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const make = async (path: string, object: object) => {
    const answer = await node.server.call('POST', `${inDefault}/${path}`, object);
    assert.equal(answer.status, 201, answer.text);
  };
  const patch = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const answer = await node.server.call('PATCH', `${inDefault}/${path}`, body, { headers });
    assert.equal(answer.status, 200, answer.text);
  };
  /** Changes a label, so that a worker syncs its pod. */
  const label = (name: string, a: string) => patch(`pods/${name}`, { metadata: { labels: { a } } });
  before(async () => {
    node = await startSimulatedNode();
    await make('serviceaccounts', { metadata: { name: 'app' } });
    node.start({ clock, exec: systemExec });
  });
  after(async () => {
    await node.stop();
    await unmountUnder(node.dataDir, systemExec);
    await node.close();
  });
  const directory = ({ metadata: { uid } }: Pod) => join(node.dataDir, 'pods', uid, 'volumes');
  const started = (name: string) => node.waitFor(name, ({ status }) => status?.phase === 'Running');
  /** Returns the volume that admission has added. */
  const accessOf = (pod: Pod) => {
    const volume = pod.spec.volumes?.find(({ name }) => name.startsWith('kube-api-access-'));
    return join(directory(pod), volume?.name ?? 'none');
  };

  it('delays the pod until all its sources exist, and an event has the reason', async () => {
    await node.createPod('early', { serviceAccountName: 'app' });
    await eventually(async () => {
      assert.ok(
        node.events.some((event) => /^FailedMount .*configmap "kube-root-ca\.crt" not found/.test(event)),
      );
    });
    assert.deepEqual(await node.running('early'), []);
    await make('configmaps', { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': 'the authority' } });
    const pod = await started('early');
    const access = accessOf(pod);
    assert.deepEqual(
      readdirSync(access)
        .filter((name) => !name.startsWith('..'))
        .sort(),
      ['ca.crt', 'namespace', 'token'],
    );
    assert.equal(readFileSync(join(access, 'ca.crt'), 'utf8'), 'the authority');
    assert.equal(readFileSync(join(access, 'namespace'), 'utf8'), 'default');
    assert.ok(await isMountPoint(access), 'it is kept in memory');
    const claims = claimsOf(readFileSync(join(access, 'token'), 'utf8'))['kubernetes.io'] as Record<
      string,
      object
    >;
    assert.deepEqual(claims.pod, { name: 'early', uid: pod.metadata.uid });
    assert.equal((claims.node as { name: string }).name, 'node-1');
    assert.equal((statSync(join(access, 'token')).mode & 0o777).toString(8), '644');
  });

  it('with a token belongs to the user that all containers run as', async () => {
    const securityContext = { runAsUser: 1234, fsGroup: 99 };
    await node.createPod('own', { serviceAccountName: 'app', securityContext });
    const pod = await started('own');
    const { uid, gid, mode } = statSync(join(accessOf(pod), 'token'));
    assert.deepEqual([uid, gid, (mode & 0o777).toString(8)], [1234, 99, '640']);
  });

  it('is replaced before the token expires, and when the objects that it shows change', async () => {
    await make('configmaps', { metadata: { name: 'settings' }, data: { colour: 'green' } });
    const items = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }];
    const mount = (name: string) => ({ name, mountPath: `/${name}` });
    await node.createPod('lives', {
      serviceAccountName: 'app',
      volumes: [
        { name: 'c', configMap: { name: 'settings' } },
        { name: 'd', downwardAPI: { items } },
        { name: 'later', secret: { secretName: 'later', optional: true } },
        { name: 'unused', configMap: { name: 'nowhere' } },
      ],
      containers: [{ name: 'a', image: 'app:1', volumeMounts: [mount('c'), mount('d'), mount('later')] }],
    });
    const pod = await started('lives');
    const token = () => readFileSync(join(accessOf(pod), 'token'), 'utf8');
    const colour = () => readFileSync(join(directory(pod), 'c/colour'), 'utf8');
    const first = token();
    assert.equal(colour(), 'green');
    await patch('configmaps/settings', { data: { colour: 'red' } });
    await eventually(async () => assert.equal(colour(), 'red'));
    await make('secrets', { metadata: { name: 'later' }, stringData: { word: 'hidden' } });
    await eventually(async () =>
      assert.equal(readFileSync(join(directory(pod), 'later/word'), 'utf8'), 'hidden'),
    );
    await label('lives', 'new');
    await eventually(async () =>
      assert.equal(readFileSync(join(directory(pod), 'd/labels'), 'utf8'), 'a="new"'),
    );
    assert.equal(token(), first, 'it is young');
    ahead += 49 * 60_000;
    // This change triggers a sync; otherwise the clock would not be read for a minute.
    await label('lives', 'newer');
    await eventually(async () => assert.notEqual(token(), first));
    const second = token();
    await node.stop();
    node.start({ clock, exec: systemExec });
    await eventually(async () =>
      assert.notEqual(token(), second, 'the token is requested again after a restart of the agent'),
    );
  });

  it('keeps a valid token while no other can be requested', async () => {
    const pod = await node.pod('lives');
    const token = () => readFileSync(join(accessOf(pod), 'token'), 'utf8');
    const first = token();
    node.cutOff();
    ahead += 50 * 60_000;
    await new Promise((resolve) => systemClock.after(300, () => resolve(undefined)));
    assert.equal(token(), first);
    node.reconnect();
    ahead += 61_000;
    await label('lives', 'away');
    await eventually(async () => assert.notEqual(token(), first));
  });

  it('keeps its content when its source is deleted, and an event reports the deletion', async () => {
    const pod = await node.pod('lives');
    const colour = () => readFileSync(join(directory(pod), 'c/colour'), 'utf8');
    const message = 'FailedMount MountVolume.SetUp failed for volume "c" : configmap "settings" not found';
    assert.ok(!node.events.includes(message));
    await node.server.call('DELETE', `${inDefault}/configmaps/settings`);
    await eventually(async () => assert.ok(node.events.includes(message)));
    assert.equal(colour(), 'red');
    assert.equal((await node.running('lives')).length, 1);
    await make('configmaps', { metadata: { name: 'settings' }, data: { colour: 'blue' } });
    await eventually(async () => assert.equal(colour(), 'blue'));
  });

  it('lets an agent that starts while no master answers restart the container', async () => {
    const [id = ''] = await node.running('lives');
    const token = readFileSync(join(accessOf(await node.pod('lives')), 'token'), 'utf8');
    await node.stop();
    node.cutOff();
    node.runtime.exit(id, 1);
    node.start({ clock, exec: systemExec });
    await eventually(async () => {
      const [next] = await node.running('lives');
      assert.ok(next !== undefined && next !== id);
    });
    assert.equal(readFileSync(join(accessOf(await node.pod('lives')), 'token'), 'utf8'), token);
    node.reconnect();
  });

  it('keeps the pod waiting, with the same message on each attempt, until it is available', async () => {
    await make('serviceaccounts', { metadata: { name: 'late' } });
    await node.stop();
    await node.createPod('waits', { serviceAccountName: 'late' });
    await node.server.call('DELETE', `${inDefault}/serviceaccounts/late`);
    node.start({ clock, exec: systemExec });
    const told = () =>
      node.events.filter((event) => event.startsWith('FailedMount') && event.includes('"late"'));
    await eventually(async () => assert.ok(told().length >= 2));
    assert.deepEqual(await node.running('waits'), []);
    await make('serviceaccounts', { metadata: { name: 'late' } });
    await started('waits');
    assert.equal(new Set(told()).size, 1, told().join('\n'));
    assert.ok(told().length <= 8, `${told().length} times`);
  });

  it("is removed when the pod has ended, and the end in the pod's status stays, also for the next agent", async () => {
    await node.createPod('done', { serviceAccountName: 'app', restartPolicy: 'Never' });
    const pod = await started('done');
    const [id = ''] = await node.running('done');
    const object = await node.runtime.inspect(id);
    assert.ok(object?.kind === 'container');
    writeFileSync(object.terminationMessageFile, 'last words');
    assert.ok(await isMountPoint(accessOf(pod)));
    node.runtime.exit(id, 3);
    await eventually(async () => assert.throws(() => statSync(directory(pod)), { code: 'ENOENT' }));
    await node.stop();
    node.start({ clock, exec: systemExec });
    await label('done', 'new');
    const lastOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.terminated;
    await eventually(async () => {
      const now = await node.pod('done');
      assert.equal(now.status?.observedGeneration, now.metadata.generation);
      assert.deepEqual([lastOf(now)?.exitCode, lastOf(now)?.message], [3, 'last words']);
    });
  });

  it('is removed with the pod', async () => {
    const pod = await node.pod('early');
    const access = accessOf(pod);
    await node.server.call('DELETE', `${inDefault}/pods/early?gracePeriodSeconds=0`);
    await eventually(async () => assert.throws(() => statSync(access), { code: 'ENOENT' }));
  });
});
