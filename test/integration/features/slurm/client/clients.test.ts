/**
 * The client pods, the permissions of their account, and a client's requests to the cluster, on a whole
 * control plane.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { isNotFound } from '../../../../../src/apimachinery/status-error.ts';
import { systemClock } from '../../../../../src/base/clock.ts';
import { silentLogger } from '../../../../../src/base/log.ts';
import { createInformerFactory } from '../../../../../src/client/shared-informer.ts';
import { slurmFileResource } from '../../../../../src/features/slurm/api/slurm-file.ts';
import { slurmJobResource } from '../../../../../src/features/slurm/api/slurm-job.ts';
import { MissingSource } from '../../../../../src/features/slurm/client/job-store.ts';
import { ClusterStore } from '../../../../../src/roles/slurm/cluster-store.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { World } from '../../triggers/server/world.ts';

const namespace = 'hpc-users';
const core = `/api/v1/namespaces/${namespace}`;
const group = `/apis/minik8s.io/v1/namespaces/${namespace}`;
const account = {
  name: `system:serviceaccount:${namespace}:minik8s-slurm-client`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
};
const world = new World('127.0.34');
const stop = new AbortController();
after(async () => {
  stop.abort();
  await world.end();
});
before(async () => {
  await world.start();
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await made('/api/v1/namespaces', { metadata: { name: namespace, labels } });
});

async function made(path: string, body: object): Promise<void> {
  const answer = await world.call('POST', path, body);
  assert.equal(answer.status, 201, answer.text);
}
const submit = (name: string, spec: object = {}, secretName = 'login') =>
  made(`${group}/slurmjobs`, {
    metadata: { name },
    spec: { connection: { secretName }, run: ['true'], ...spec },
  });
const pods = async (secretName: string) => {
  const { items } = await world.client.resource(podResource).list({ namespace });
  return items.filter(({ metadata }) => metadata.annotations?.['minik8s.io/slurm-secret'] === secretName);
};
const clientOf = (secretName: string) =>
  world.eventually(`a client of ${secretName}`, async () => (await pods(secretName))[0]);
const jobOf = (name: string) => world.client.resource(slurmJobResource).get(name, namespace);
const isGone = (name: string) =>
  world.eventually(`${name} is gone`, () =>
    jobOf(name).then(
      () => false,
      (error: unknown) => isNotFound(error),
    ),
  );

async function storeOf(secretName: string): Promise<ClusterStore> {
  const client = world.plane.clientOf(account);
  const options = { client, clock: systemClock, random: new SeededRandom(1), log: silentLogger };
  const informers = createInformerFactory(options);
  const informer = informers.informerFor(slurmJobResource, { namespace });
  await informers.start(stop.signal);
  return new ClusterStore({ client, namespace, secretName, informer });
}

const status = { phase: 'Waiting', acceptedTime: '2026-01-01T00:00:00Z' } as const;

describe('jobs of one connection', () => {
  it('have one client, whose pod satisfies the level restricted and has the needed keys of the Secret', async () => {
    await Promise.all(Array.from({ length: 5 }, (_, index) => submit(`one-${index}`, {}, 'shared')));
    const pod = await clientOf('shared');
    const { spec } = pod;
    assert.equal(spec.serviceAccountName, 'minik8s-slurm-client');
    assert.deepEqual(spec.containers[0]?.command?.slice(1), [
      'slurm-client',
      `--namespace=${namespace}`,
      '--secret=shared',
    ]);
    const secret = spec.volumes?.find(({ name }) => name === 'connection')?.secret;
    assert.equal(secret?.secretName, 'shared');
    assert.ok(secret?.items?.every(({ key }) => key !== 'token'));
    assert.equal((await pods('shared')).length, 1);
  });

  it('get another client when its pod is deleted', async () => {
    await submit('again');
    const first = await clientOf('login');
    await world.client
      .resource(podResource)
      .delete(first.metadata.name, namespace, { gracePeriodSeconds: 0 });
    await world.eventually('another pod', async () =>
      (await pods('login')).some(({ metadata }) => metadata.uid !== first.metadata.uid),
    );
  });
});

describe('the account of clients', () => {
  const attempts: readonly (readonly [title: string, method: string, path: string, may: boolean])[] = [
    ['read jobs', 'GET', `${group}/slurmjobs`, true],
    ['read a ConfigMap by its name', 'GET', `${core}/configmaps/x`, true],
    ['list ConfigMaps', 'GET', `${core}/configmaps`, false],
    ['read Secrets', 'GET', `${core}/secrets`, false],
    ['read the Secret of its connection', 'GET', `${core}/secrets/login`, false],
    ['read pods', 'GET', `${core}/pods`, false],
    ['delete jobs', 'DELETE', `${group}/slurmjobs/again`, false],
    ['read jobs of other namespaces', 'GET', '/apis/minik8s.io/v1/slurmjobs', false],
  ];
  for (const [title, method, path, may] of attempts) {
    it(`${may ? 'may' : 'may not'} ${title}`, async () => {
      await clientOf('login');
      const { status: code } = await world.call(method, path, undefined, { user: account });
      assert.equal(code !== 403, may, `answered ${code}`);
    });
  }

  it('alone may create SlurmFiles and write statuses, which an editor of the namespace may not', async () => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' };
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'edit' }];
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`;
    await made(path, { metadata: { name: 'edit' }, roleRef, subjects });
    const user = { name: 'edit', groups: ['system:authenticated'] };
    await world.eventually('edit is put together', async () => {
      return (await world.call('GET', `${group}/slurmjobs`, undefined, { user })).status === 200;
    });
    const spec = {
      job: 'again',
      jobUID: 'u',
      kind: 'Output',
      path: 'stdout',
      offset: 0,
      length: 3,
      data: 'AAEC',
    };
    const file = { metadata: { name: 'f' }, spec };
    assert.equal((await world.call('POST', `${group}/slurmfiles`, file, { user })).status, 403);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const wrote = await world.call('PATCH', `${group}/slurmjobs/again/status`, { status }, { user, headers });
    assert.equal(wrote.status, 403);
    const job = { metadata: { name: 'mine' }, spec: { connection: { secretName: 'mine' }, run: ['true'] } };
    assert.equal((await world.call('POST', `${group}/slurmjobs`, job, { user })).status, 201);
  });
});

describe('a client', () => {
  it('gets the files of a job, including those of ConfigMaps, and reports a missing one', async () => {
    await made(`${core}/configmaps`, { metadata: { name: 'src' }, data: { 'a.c': 'A', 'b.c': 'B' } });
    const filesFrom = [{ configMapName: 'src', path: 'src' }];
    await submit(
      'files',
      {
        filesFrom,
        files: [
          { path: 'src/b.c', content: 'own' },
          { path: 'x', base64: 'AAEC' },
        ],
      },
      'f',
    );
    await submit('none', { filesFrom: [{ configMapName: 'nothing' }] }, 'f');
    await clientOf('f');
    const store = await storeOf('f');
    const [files, none] = store.jobs().toSorted((a, b) => a.name.localeCompare(b.name));
    assert.ok(files && none);
    const found = (await store.readFiles(files)).map(({ path, data }) => [
      path,
      Buffer.from(data).toString('hex'),
    ]);
    assert.deepEqual(found, [
      ['src/a.c', '41'],
      ['src/b.c', Buffer.from('own').toString('hex')],
      ['x', '000102'],
    ]);
    await assert.rejects(
      store.readFiles(none),
      (error) => error instanceof MissingSource && /"nothing"/.test(error.message),
    );
  });

  it('writes a piece of a file once, and lists the stored pieces', async () => {
    await submit('out', {}, 'o');
    await clientOf('o');
    const store = await storeOf('o');
    const [job] = store.jobs();
    assert.ok(job);
    const name = { kind: 'Output', path: 'stdout' } as const;
    await store.appendFile(job, name, 0, Buffer.from('hello '));
    await store.appendFile(job, name, 0, Buffer.from('other!'));
    await store.appendFile(job, name, 6, Buffer.alloc(512 * 1024, 'x'));
    assert.deepEqual(await store.storedFiles(job), [{ ...name, length: 6 + 512 * 1024 }]);
    // More than one page of a list.
    const more = { kind: 'Result', path: 'many' } as const;
    for (let offset = 0; offset < 10; offset++) await store.appendFile(job, more, offset, Buffer.from('x'));
    assert.equal((await store.storedFiles(job)).find(({ path }) => path === 'many')?.length, 10);
    const { items } = await world.client.resource(slurmFileResource).list({ namespace });
    const first = items.find(({ spec }) => spec.offset === 0 && spec.path === 'stdout');
    assert.equal(Buffer.from(first?.spec.data ?? '', 'base64').toString(), 'hello ');
    assert.equal(first?.metadata.ownerReferences?.[0]?.uid, job.uid);
  });

  it('writes a whole status, never to another job of that name, and is notified of changes', async () => {
    await submit('state', {}, 's');
    await clientOf('s');
    const store = await storeOf('s');
    const [job] = store.jobs();
    assert.ok(job && job.status === undefined);
    await store.writeStatus(job, { ...status, phase: 'Running', jobID: '7', reason: 'None' });
    await store.writeStatus(job, { ...status, phase: 'Running', jobID: '7' });
    assert.deepEqual((await jobOf('state')).status, { ...status, phase: 'Running', jobID: '7' });
    await store.writeStatus({ ...job, uid: 'another' }, { ...status, phase: 'Failed' });
    assert.equal((await jobOf('state')).status?.phase, 'Running');
    await world.eventually('it is seen', () => store.jobs()[0]?.status?.jobID === '7');
    await store.writeStatus(job, { ...status, phase: 'Succeeded' });
    await world.eventually('it is no job of the client any more', () => store.jobs().length === 0);
  });

  it('releases a job that is being deleted; before that it stays, and no other is released', async () => {
    await made(`${core}/secrets`, { metadata: { name: 'd' }, stringData: { host: 'h' } });
    await submit('gone', {}, 'd');
    await clientOf('d');
    const store = await storeOf('d');
    const [job] = store.jobs();
    assert.ok(job);
    await store.writeStatus(job, { ...status, phase: 'Running', jobID: '9' });
    await store.release(job);
    assert.deepEqual((await jobOf('gone')).metadata.finalizers, ['minik8s.io/slurm-cancel']);
    await world.client.resource(slurmJobResource).delete('gone', namespace);
    await world.eventually('the deletion is seen', () => store.jobs()[0]?.deleting === true);
    await store.release(job);
    await isGone('gone');
  });
});

describe('a job that is deleted', () => {
  it('is removed at once when it has ended', async () => {
    await submit('ended', {}, 'e');
    await clientOf('e');
    const store = await storeOf('e');
    const [job] = store.jobs();
    assert.ok(job);
    await store.writeStatus(job, { ...status, phase: 'Failed' });
    await world.client.resource(slurmJobResource).delete('ended', namespace);
    await isGone('ended');
  });
  it('is released with an event if there is no Secret to cancel it with', async () => {
    await submit('lost', {}, 'l');
    await clientOf('l');
    const store = await storeOf('l');
    const [job] = store.jobs();
    assert.ok(job);
    await store.writeStatus(job, { ...status, phase: 'Running', jobID: '11' });
    await world.eventually('it is seen', () => store.jobs()[0]?.status?.jobID === '11');
    await world.client.resource(slurmJobResource).delete('lost', namespace);
    await isGone('lost');
    await world.eventually('an event', async () => {
      const { text } = await world.call('GET', `${core}/events`);
      return text.includes('job 11 may continue in Slurm: Secret l is gone');
    });
  });
  it('is deleted with its client when its TTL after the end is over', async () => {
    await submit('short', { ttlSecondsAfterFinished: 0 }, 't');
    await clientOf('t');
    const store = await storeOf('t');
    const [job] = store.jobs();
    assert.ok(job);
    await store.writeStatus(job, { ...status, phase: 'Succeeded' });
    await isGone('short');
    await world.eventually('no client', async () =>
      (await pods('t')).every(({ metadata }) => metadata.deletionTimestamp !== undefined),
    );
  });
});
