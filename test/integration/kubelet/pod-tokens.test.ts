/** The files that a pod gets from the API, by the agent on this machine's kernel: its token above all. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { systemExec } from '../../../src/base/exec.ts';
import { isMountPoint, unmountUnder } from '../../../src/kubelet/mounts.ts';
import { claimsOf } from '../apiserver/account-world.ts';
import { eventually } from './node-harness.ts';
import { type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const inDefault = '/api/v1/namespaces/default';

describe('what a pod gets from the API', () => {
  let node: SimulatedNode;
  /** How far the clock of the agent is ahead. */
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const make = async (path: string, object: object) => {
    const answer = await node.server.call('POST', `${inDefault}/${path}`, object);
    assert.equal(answer.status, 201, answer.text);
  };
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
  /** Of the volume that admission has added. */
  const accessOf = (pod: Pod) => {
    const volume = pod.spec.volumes?.find(({ name }) => name.startsWith('kube-api-access-'));
    return join(directory(pod), volume?.name ?? 'none');
  };

  it('holds the pod until all of it is there, and says why', async () => {
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

  it('is its only reader’s', async () => {
    const securityContext = { runAsUser: 1234, fsGroup: 99 };
    await node.createPod('own', { serviceAccountName: 'app', securityContext });
    const pod = await started('own');
    const { uid, gid, mode } = statSync(join(accessOf(pod), 'token'));
    assert.deepEqual([uid, gid, (mode & 0o777).toString(8)], [1234, 99, '640']);
  });

  it('is replaced before the token is over, and when what it shows has changed', async () => {
    await make('configmaps', { metadata: { name: 'settings' }, data: { colour: 'green' } });
    await node.createPod('lives', {
      serviceAccountName: 'app',
      volumes: [{ name: 'c', configMap: { name: 'settings' } }],
      containers: [{ name: 'a', image: 'app:1', volumeMounts: [{ name: 'c', mountPath: '/c' }] }],
    });
    const pod = await started('lives');
    const token = () => readFileSync(join(accessOf(pod), 'token'), 'utf8');
    const colour = () => readFileSync(join(directory(pod), 'c/colour'), 'utf8');
    const first = token();
    assert.equal(colour(), 'green');
    const headers = { 'content-type': 'application/merge-patch+json' };
    await node.server.call(
      'PATCH',
      `${inDefault}/configmaps/settings`,
      { data: { colour: 'red' } },
      { headers },
    );
    ahead += 61_000;
    await eventually(async () => assert.equal(colour(), 'red'));
    assert.equal(token(), first, 'it is young');
    ahead += 48 * 60_000;
    await eventually(async () => assert.notEqual(token(), first));
    const second = token();
    await node.stop();
    node.start({ clock, exec: systemExec });
    await eventually(async () =>
      assert.notEqual(token(), second, 'an agent that has just started knows no time'),
    );
  });

  it('keeps a token that is good while there is no other', async () => {
    const pod = await node.pod('lives');
    const token = () => readFileSync(join(accessOf(pod), 'token'), 'utf8');
    const first = token();
    node.cutOff();
    ahead += 50 * 60_000;
    await new Promise((resolve) => systemClock.after(300, () => resolve(undefined)));
    assert.equal(token(), first);
    node.reconnect();
    ahead += 61_000;
    await eventually(async () => assert.notEqual(token(), first));
  });

  it('is enough to bring back what ends, by an agent that starts while no master answers', async () => {
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

  it('is gone with the pod', async () => {
    const pod = await node.pod('early');
    const access = accessOf(pod);
    await node.server.call('DELETE', `${inDefault}/pods/early?gracePeriodSeconds=0`);
    await eventually(async () => assert.throws(() => statSync(access), { code: 'ENOENT' }));
  });
});
