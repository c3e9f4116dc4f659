/**
 * Objects that the SlurmJob controller creates and removes, where requests are rejected or names are taken.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { secretResource } from '../../../../../src/api/core/v1/secret.ts';
import { serviceAccountResource } from '../../../../../src/api/core/v1/service-account/service-account.ts';
import { roleBindingResource } from '../../../../../src/api/rbac/v1/role-binding.ts';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../../../src/apimachinery/resource-definition.ts';
import { newNotFound, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import { slurmSecretAnnotation } from '../../../../../src/features/slurm/api/slurm-client-pod.ts';
import {
  type SlurmJob,
  slurmFinalizer,
  slurmJobResource,
} from '../../../../../src/features/slurm/api/slurm-job.ts';
import { slurmController, slurmRights } from '../../../../../src/features/slurm/controller/slurm-clients.ts';
import { at, meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

/** The controller, with the rights that its account has. */
const newWorld = () => new ScriptedWorld(slurmController, 0, [slurmRights]);
const key = 'default/hpc';
const job = (over: object = {}, status: object = {}): SlurmJob =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'SlurmJob' },
    metadata: meta('j', { finalizers: [slurmFinalizer], ...over }),
    spec: { connection: { secretName: 'hpc' }, run: ['true'] },
    status,
  }) as unknown as SlurmJob;
const leaving = { deletionTimestamp: at(0) };

describe('the controller of SlurmJobs', () => {
  it('removes only its own finalizer from a job', async () => {
    const world = newWorld();
    world.put(
      slurmJobResource,
      job({ ...leaving, finalizers: ['other.io/x', slurmFinalizer] }, { phase: 'Failed' }),
    );
    await world.reconcile(key);
    assert.deepEqual(world.stored(slurmJobResource, 'default/j')?.metadata.finalizers, ['other.io/x']);
  });
  it('does not release a job because something failed', async () => {
    const world = newWorld();
    world.put(slurmJobResource, job(leaving, { phase: 'Running', jobID: '7' }));
    world.store(secretResource, { kind: 'Secret', metadata: meta('hpc') } as never);
    world.refuse = (verb) =>
      verb === 'create' ? newStatusError('InternalError', 'the store is away') : undefined;
    await assert.rejects(world.reconcile(key), /the store is away/);
    world.refuse = (_, name) => (name === 'hpc' ? newStatusError('InternalError', 'away') : undefined);
    await assert.rejects(world.reconcile(key), /away/);
    assert.deepEqual(world.stored(slurmJobResource, 'default/j')?.metadata.finalizers, [slurmFinalizer]);
    assert.deepEqual(world.told, []);
  });
  it('gives a client the connection keys of its Secret, also if the Secret does not exist yet', async () => {
    const world = newWorld();
    world.put(slurmJobResource, job());
    await world.reconcile(key);
    const [volume] = world.all(podResource)[0]?.spec.volumes ?? [];
    const { secretName, optional, items = [] } = volume?.secret ?? {};
    assert.deepEqual([secretName, optional], ['hpc', true]);
    assert.deepEqual(items.map(({ key: of }) => of).toSorted(), [
      ...['host', 'knownHosts', 'passphrase', 'password', 'port', 'privateKey', 'user'],
    ]);
  });
  it('creates a new client beside a terminating client, and one client for each connection', async () => {
    const world = newWorld();
    world.put(slurmJobResource, job());
    await world.reconcile(key);
    const [first] = world.all(podResource);
    assert.ok(first);
    // The cache does not show the pod yet.
    await world.reconcile(key);
    assert.equal(world.names(podResource).length, 1);
    world.put(podResource, { ...first, metadata: { ...first.metadata, ...leaving } } as Pod);
    await world.reconcile(key);
    assert.equal(world.names(podResource).length, 2);
    world.put(slurmJobResource, { ...job(), spec: { ...job().spec, connection: { secretName: 'other' } } });
    await world.reconcile('default/other');
    assert.equal(world.names(podResource).length, 3);
  });
  it('restores the account and the binding of its clients, for each connection of the namespace', async () => {
    const world = newWorld();
    world.put(slurmJobResource, job());
    world.put(slurmJobResource, {
      ...job({ name: 'k', uid: 'uid-k' }),
      spec: { ...job().spec, connection: { secretName: 'other' } },
    });
    await world.reconcile(key);
    for (const kind of [serviceAccountResource, roleBindingResource]) {
      world.sync<KubeObject>(kind as ResourceRef<KubeObject>);
      const [object] = world.all<KubeObject>(kind as ResourceRef<KubeObject>);
      assert.ok(object, kind.kind);
      const keys = world.keysOf<KubeObject>(kind as ResourceRef<KubeObject>, object);
      assert.deepEqual(keys.toSorted(), ['default/hpc', 'default/other'], kind.kind);
      world.take(kind, `default/${object.metadata.name}`);
      world.sync<KubeObject>(kind as ResourceRef<KubeObject>);
      await world.reconcile(key);
      assert.deepEqual(world.names(kind), [object.metadata.name], kind.kind);
    }
  });
  it('removes its finalizer only from the version of the job that it has seen', async () => {
    for (const other of [
      { resourceVersion: '2', finalizers: ['late.io/x', slurmFinalizer] },
      { uid: 'uid-of-another', finalizers: ['late.io/x', slurmFinalizer] },
    ]) {
      const world = newWorld();
      world.put(slurmJobResource, job(leaving, { phase: 'Failed' }));
      world.store(slurmJobResource, job({ ...leaving, ...other }, { phase: 'Running', jobID: '9' }));
      await assert.rejects(world.reconcile(key), /changed/);
      const { finalizers } = world.stored(slurmJobResource, 'default/j')?.metadata ?? {};
      assert.deepEqual(finalizers, other.finalizers);
    }
  });
  it('removes only the pod and the job that it has seen, not newer objects with their names', async () => {
    const world = newWorld();
    const ended = { phase: 'Succeeded', endTime: at(-3600) };
    const expired = {
      ...job({ finalizers: [] }, ended),
      spec: { ...job().spec, ttlSecondsAfterFinished: 0 },
    };
    world.put(slurmJobResource, expired);
    world.store(slurmJobResource, { ...expired, metadata: { ...expired.metadata, uid: 'uid-of-another' } });
    await assert.rejects(world.reconcile(key), /another/);
    assert.ok(world.stored(slurmJobResource, 'default/j'));
    const pod = { kind: 'Pod', metadata: meta('p', { annotations: { [slurmSecretAnnotation]: 'hpc' } }) };
    world.seen.put(podResource, { ...pod, spec: {}, status: { phase: 'Running' } } as unknown as Pod);
    world.store(podResource, {
      ...pod,
      metadata: { ...pod.metadata, uid: 'uid-of-another' },
    } as unknown as Pod);
    await assert.rejects(world.reconcile(key), /another/);
    assert.ok(world.stored(podResource, 'default/p'));
  });
  it('continues after a failure between any two of its requests, and then has one client, account and binding', async () => {
    for (let failing = 0; failing < 3; failing++)
      for (const fault of ['InternalError', 'Forbidden'] as const) {
        const world = newWorld();
        world.put(slurmJobResource, job());
        let count = 0;
        world.refuse = () => (count++ === failing ? newStatusError(fault, 'not now') : undefined);
        await assert.rejects(world.reconcile(key), /not now/);
        for (let again = 0; again < 2; again++) await world.reconcile(key);
        for (const kind of [podResource, serviceAccountResource, roleBindingResource])
          assert.equal(world.names(kind).length, 1, `${kind.kind}, ${fault} at ${failing}`);
      }
  });
  it('sends no request once all objects exist', async () => {
    const world = newWorld();
    world.put(slurmJobResource, job());
    await world.reconcile(key);
    for (const kind of [podResource, serviceAccountResource, roleBindingResource])
      world.sync<KubeObject>(kind as ResourceRef<KubeObject>);
    const before = world.asked.length;
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(world.asked.slice(before), []);
  });
  it('removes the client two minutes after the last job, and reconciles again for that', async () => {
    const world = newWorld();
    world.put(slurmJobResource, job());
    await world.reconcile(key);
    world.sync(podResource);
    const [pod] = world.all(podResource);
    assert.ok(pod);
    assert.deepEqual(world.keysOf(podResource, pod), [key], 'a pod that changes wakes its connection');
    assert.deepEqual(world.keysOf(podResource, { ...pod, metadata: meta('x') }), []);
    const end = new Date(world.clock.now()).toISOString();
    world.put(slurmJobResource, job({ finalizers: [] }, { phase: 'Succeeded', endTime: end }));
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 120_000 });
    assert.equal(world.all(podResource)[0]?.metadata.deletionTimestamp, undefined);
    await world.clock.advance(120_000);
    assert.equal(await world.reconcile(key), undefined);
    assert.ok(world.all(podResource)[0]?.metadata.deletionTimestamp);
  });
  it('releases a job whose Secret is missing, and reports the number of the job that may continue', async () => {
    for (const [status, told] of [
      [
        { phase: 'Running', jobID: '7' },
        ['Warning NotCanceled j: job 7 may continue in Slurm: Secret hpc is gone'],
      ],
      [{ phase: 'Uploading' }, []],
    ] as const) {
      const world = newWorld();
      world.put(slurmJobResource, job(leaving, status));
      await world.reconcile(key);
      assert.equal(world.stored(slurmJobResource, 'default/j'), undefined);
      assert.deepEqual([world.told, world.names(podResource)], [told, []]);
    }
  });
  it('releases a job in a namespace that ends, when no client is left to cancel it', async () => {
    for (const answer of [
      newNotFound(podResource, 'default'),
      newStatusError('Forbidden', 'the namespace is being deleted', {
        causes: [{ reason: 'NamespaceTerminating', message: '', field: '' }],
      }),
    ]) {
      const world = newWorld();
      world.put(slurmJobResource, job(leaving, { phase: 'Running', jobID: '7' }));
      world.store(secretResource, { kind: 'Secret', metadata: meta('hpc') } as never);
      world.refuse = (verb) => (verb === 'create' ? answer : undefined);
      await world.reconcile(key);
      assert.equal(world.stored(slurmJobResource, 'default/j'), undefined);
      assert.deepEqual(world.told, [
        'Warning NotCanceled j: job 7 may continue in Slurm: its namespace is being deleted',
      ]);
    }
  });
  it('reports nothing about a job that ended before its deletion', async () => {
    const world = newWorld();
    world.put(slurmJobResource, job(leaving, { phase: 'Failed', jobID: '7' }));
    await world.reconcile(key);
    assert.deepEqual([world.stored(slurmJobResource, 'default/j'), world.told], [undefined, []]);
  });
  it('keeps a job that is being deleted for the client that it creates, beside jobs that continue', async () => {
    const world = newWorld();
    world.put(slurmJobResource, job(leaving, { phase: 'Running', jobID: '7' }));
    assert.deepEqual(world.keysOf(slurmJobResource, job()), [key]);
    world.put(slurmJobResource, job({ name: 'k', uid: 'uid-k' }));
    world.store(secretResource, { kind: 'Secret', metadata: meta('hpc') } as never);
    await world.reconcile(key);
    assert.deepEqual(world.stored(slurmJobResource, 'default/j')?.metadata.finalizers, [slurmFinalizer]);
    assert.deepEqual([world.names(podResource).length, world.told], [1, []]);
    world.take(secretResource, 'default/hpc');
    await world.reconcile(key);
    assert.equal(
      world.stored(slurmJobResource, 'default/j'),
      undefined,
      'without its Secret the job cannot be cancelled',
    );
  });
});
