/** Store of a Slurm client's jobs in an API server of this process, whose answers can be lost. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { newInternalError, newNotFound } from '../../../../src/apimachinery/status-error.ts';
import type { Client } from '../../../../src/client/client.ts';
import { inProcessTransport } from '../../../../src/client/in-process-transport.ts';
import { createClient } from '../../../../src/client/rest-client.ts';
import { maxSlurmChunk, slurmFileResource } from '../../../../src/features/slurm/api/slurm-file.ts';
import {
  type SlurmJob as StoredJob,
  slurmFinalizer,
  slurmJobResource,
} from '../../../../src/features/slurm/api/slurm-job.ts';
import { MissingSource } from '../../../../src/features/slurm/client/job-store.ts';
import type { SlurmJob, SlurmJobStatus } from '../../../../src/features/slurm/client/slurm-job.ts';
import { ClusterStore } from '../../../../src/roles/slurm/cluster-store.ts';
import { admin, startTestServer } from '../../../fixtures/api-server.ts';
import { ScriptedInformers } from '../../../fixtures/scripted-informers.ts';

const status: SlurmJobStatus = { phase: 'Running', acceptedTime: '2026-01-01T00:00:00Z', state: 'RUNNING' };

async function world(context: TestContext) {
  const server = await startTestServer();
  context.after(() => server.stop());
  const real = createClient(inProcessTransport(server.handlerFor(admin)));
  const informer = new ScriptedInformers().informerFor<StoredJob>(slurmJobResource);
  const faults = {
    /** Called after each request; an error that it throws replaces the answer. */
    after: (_method: string): void => undefined,
    /** Called before each request, which a thrown error prevents. */
    before: (_method: string): void => undefined,
  };
  const client: Client = {
    resource: (ref) =>
      new Proxy(real.resource(ref), {
        get:
          (target, name) =>
          async (...given: unknown[]) => {
            faults.before(String(name));
            const call = Reflect.get(target, name) as (...all: unknown[]) => Promise<unknown>;
            const answer = await call.apply(target, given);
            faults.after(String(name));
            return answer;
          },
      }),
  };
  const store = new ClusterStore({ client, namespace: 'default', secretName: 'login', informer });
  const jobs = real.resource(slurmJobResource);
  const create = async (name: string, spec: object = {}): Promise<SlurmJob> => {
    const { metadata } = await jobs.create({
      ...{ apiVersion: 'minik8s.io/v1', kind: 'SlurmJob', metadata: { name, namespace: 'default' } },
      spec: { connection: { secretName: 'login' }, run: ['true'], ...spec },
    } as never);
    const rest = { status: undefined, deleting: false };
    return { name, namespace: 'default', uid: metadata.uid, spec: { run: ['true'] }, ...rest };
  };
  return { store, informer, faults, jobs, create, files: real.resource(slurmFileResource), real };
}

const stored = (
  name: string,
  more: { secret?: string; phase?: string; held?: boolean; over?: boolean } = {},
) =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'SlurmJob' },
    metadata: {
      ...{ name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1' },
      ...(more.held !== false && { finalizers: [slurmFinalizer] }),
      ...(more.over && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { connection: { secretName: more.secret ?? 'login' }, run: ['true'] },
    ...(more.phase && { status: { phase: more.phase } }),
  }) as unknown as StoredJob;

describe('ClusterStore.jobs', () => {
  it('lists the jobs of the connection that have not ended, and terminating ones that keep the finalizer', async (context) => {
    const { store, informer } = await world(context);
    for (const job of [
      stored('new'),
      stored('running', { phase: 'Running' }),
      stored('ended', { phase: 'Succeeded' }),
      stored('other', { secret: 'elsewhere' }),
      stored('deleted', { over: true, phase: 'Failed' }),
      stored('released', { over: true, held: false }),
    ])
      informer.put(job);
    assert.deepEqual(
      store.jobs().map(({ name, uid, deleting, status: is }) => [name, uid, deleting, is?.phase]),
      [
        ['new', 'uid-new', false, undefined],
        ['running', 'uid-running', false, 'Running'],
        ['deleted', 'uid-deleted', true, 'Failed'],
      ],
    );
  });
  it('reports changes to each listener until the listener is removed', async (context) => {
    const { store, informer } = await world(context);
    let calls = 0;
    const forget = store.onChange(() => calls++);
    informer.put(stored('a'));
    informer.put(stored('a', { phase: 'Running' }));
    informer.remove('default/a' as never);
    assert.equal(calls, 3);
    forget();
    informer.put(stored('b'));
    assert.equal(calls, 3);
  });
});

describe('ClusterStore.writeStatus', () => {
  it('replaces the whole status', async (context) => {
    const { store, create, jobs } = await world(context);
    const job = await create('a');
    await store.writeStatus(job, { ...status, reason: 'None', jobID: '7' });
    await store.writeStatus(job, status);
    assert.deepEqual((await jobs.get('a', 'default')).status, status);
  });
  it('ignores a deleted job, and does not change a new job with the same name', async (context) => {
    const { store, create, jobs } = await world(context);
    const job = await create('a');
    await store.writeStatus({ ...job, uid: 'of-an-earlier-job' }, status);
    assert.equal((await jobs.get('a', 'default')).status, undefined);
    await store.writeStatus({ ...job, name: 'gone' }, status);
  });
  it('succeeds if the job is deleted between the read and the write', async (context) => {
    const { store, create, faults, jobs } = await world(context);
    const job = await create('a');
    await jobs.delete('a', 'default');
    faults.before = (method) => {
      if (method === 'patch') throw newNotFound(slurmJobResource, 'a');
    };
    await store.writeStatus(job, status);
  });
  it('rejects if the cluster fails, before or after the write, and can be repeated', async (context) => {
    const { store, create, faults, jobs } = await world(context);
    const job = await create('a');
    for (const when of ['before', 'after'] as const)
      for (const method of ['get', 'patch']) {
        faults[when] = (called) => {
          if (called === method) throw newInternalError('the cluster is away');
        };
        await assert.rejects(store.writeStatus(job, status), /the cluster is away/, `${when} ${method}`);
        faults[when] = () => undefined;
      }
    await store.writeStatus(job, status);
    assert.deepEqual((await jobs.get('a', 'default')).status, status);
  });
});

describe('ClusterStore.release', () => {
  it('removes only its own finalizer, and only from a job that is being deleted', async (context) => {
    const { store, create, jobs } = await world(context);
    const job = await create('a');
    await store.release(job);
    assert.deepEqual((await jobs.get('a', 'default')).metadata.finalizers, [slurmFinalizer]);
    const patch = { metadata: { finalizers: [slurmFinalizer, 'example.com/other'] } };
    await jobs.patch('a', 'default', 'merge', patch);
    await jobs.delete('a', 'default');
    await store.release({ ...job, uid: 'of-an-earlier-job' });
    assert.deepEqual((await jobs.get('a', 'default')).metadata.finalizers, patch.metadata.finalizers);
    await store.release(job);
    assert.deepEqual((await jobs.get('a', 'default')).metadata.finalizers, ['example.com/other']);
  });
});

describe('ClusterStore.readFiles', () => {
  it('reads ConfigMaps and the files of the job, which take precedence', async (context) => {
    const { store, create, real } = await world(context);
    await real.resource(configMapResource).create({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sources', namespace: 'default' } },
      ...{ data: { 'a.txt': 'from the map', 'b.txt': 'b' }, binaryData: { bin: '/wA=' } },
    } as never);
    const job = await create('a', {
      files: [
        { path: 'a.txt', content: 'own' },
        { path: 'raw', base64: 'AAH/' },
      ],
      filesFrom: [{ configMapName: 'sources' }, { configMapName: 'sources', path: 'below' }],
    });
    const files = await store.readFiles(job);
    assert.deepEqual(
      Object.fromEntries(files.map(({ path, data }) => [path, Buffer.from(data).toString('latin1')])),
      {
        ...{ 'a.txt': 'own', 'b.txt': 'b', bin: '\u00ff\0', raw: '\0\u0001\u00ff' },
        ...{ 'below/a.txt': 'from the map', 'below/b.txt': 'b', 'below/bin': '\u00ff\0' },
      },
    );
  });
  it('rejects with the name of the missing job or ConfigMap, and forwards other errors', async (context) => {
    const { store, create, faults } = await world(context);
    const job = await create('a', { filesFrom: [{ configMapName: 'none' }] });
    const missing = (message: string) => (error: unknown) =>
      error instanceof MissingSource && error.message === message;
    await assert.rejects(store.readFiles(job), missing('ConfigMap "none" is not there'));
    await assert.rejects(store.readFiles({ ...job, name: 'gone' }), missing('SlurmJob gone is gone'));
    faults.after = () => {
      throw newInternalError('the cluster is away');
    };
    await assert.rejects(store.readFiles(job), (error) => !(error instanceof MissingSource));
  });
});

describe('files of a ClusterStore', () => {
  const output = { kind: 'Output', path: 'stdout' } as const;
  it('are appended once, even if the answer is lost or two clients append them', async (context) => {
    const { store, create, faults, files } = await world(context);
    const job = await create('a');
    faults.after = () => {
      throw newInternalError('the answer is lost');
    };
    await assert.rejects(store.appendFile(job, output, 0, Buffer.from('one')), /the answer is lost/);
    faults.after = () => undefined;
    await Promise.all([1, 2].map(() => store.appendFile(job, output, 0, Buffer.from('one'))));
    await store.appendFile(job, output, 3, Buffer.from('two'));
    await store.appendFile(job, output, 6, Buffer.alloc(0));
    const { items } = await files.list({ namespace: 'default' });
    assert.deepEqual(
      items.map(({ spec }) => [spec.offset, Buffer.from(spec.data, 'base64').toString(), spec.jobUID]),
      [
        [0, 'one', job.uid],
        [3, 'two', job.uid],
      ],
    );
    assert.deepEqual(items[0]?.metadata.ownerReferences?.[0]?.uid, job.uid);
    assert.deepEqual(await store.storedFiles(job), [{ ...output, length: 6 }]);
  });
  it('are listed over all pages, for this job alone', async (context) => {
    const { store, create } = await world(context);
    const [one, two] = [await create('a'), await create('b')];
    for (let offset = 0; offset < 20; offset++) await store.appendFile(one, output, offset, Buffer.of(65));
    await store.appendFile(two, { kind: 'Result', path: 'x' }, 0, Buffer.from('abc'));
    assert.deepEqual(await store.storedFiles(one), [{ ...output, length: 20 }]);
    assert.deepEqual(await store.storedFiles(two), [{ kind: 'Result', path: 'x', length: 3 }]);
  });
  it('cannot be appended with a piece above the maximum, and cannot be read or written while the cluster fails', async (context) => {
    const { store, create, faults } = await world(context);
    const job = await create('a');
    await store.appendFile(job, output, 0, Buffer.alloc(maxSlurmChunk, 'x'));
    await assert.rejects(
      store.appendFile(job, output, maxSlurmChunk, Buffer.alloc(maxSlurmChunk + 1)),
      RangeError,
    );
    faults.before = () => {
      throw newInternalError('the cluster is away');
    };
    await assert.rejects(store.appendFile(job, output, 9, Buffer.of(1)), /the cluster is away/);
    await assert.rejects(store.storedFiles(job), /the cluster is away/);
  });
});
