/** What the controller of SlurmJobs makes and takes away, where something is refused or in its way. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Pod, podResource } from '../../../src/api/core/v1/pod.ts';
import { secretResource } from '../../../src/api/core/v1/secret.ts';
import { type SlurmJob, slurmFinalizer, slurmJobResource } from '../../../src/api/minik8s/v1/slurm-job.ts';
import { newStatusError } from '../../../src/apimachinery/status-error.ts';
import { slurmController } from '../../../src/controllers/slurm/slurm-clients.ts';
import { at, meta } from './objects.ts';
import { ScriptedWorld } from './scripted-world.ts';

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
  it('takes its own finalizer off a job, and no other', async () => {
    const world = new ScriptedWorld(slurmController);
    world.put(
      slurmJobResource,
      job({ ...leaving, finalizers: ['other.io/x', slurmFinalizer] }, { phase: 'Failed' }),
    );
    await world.reconcile(key);
    assert.deepEqual(world.stored(slurmJobResource, 'default/j')?.metadata.finalizers, ['other.io/x']);
  });
  it('does not let go of a job because something failed', async () => {
    const world = new ScriptedWorld(slurmController);
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
  it('gives a client the keys of its Secret that are of a connection, also where there is none yet', async () => {
    const world = new ScriptedWorld(slurmController);
    world.put(slurmJobResource, job());
    await world.reconcile(key);
    const [volume] = world.all(podResource)[0]?.spec.volumes ?? [];
    const { secretName, optional, items = [] } = volume?.secret ?? {};
    assert.deepEqual([secretName, optional], ['hpc', true]);
    assert.deepEqual(items.map(({ key: of }) => of).toSorted(), [
      ...['host', 'knownHosts', 'passphrase', 'password', 'port', 'privateKey', 'user'],
    ]);
  });
  it('makes another client beside one that is leaving, and one for each connection', async () => {
    const world = new ScriptedWorld(slurmController);
    world.put(slurmJobResource, job());
    await world.reconcile(key);
    const [first] = world.all(podResource);
    assert.ok(first);
    // The cache does not show it yet.
    await world.reconcile(key);
    assert.equal(world.names(podResource).length, 1);
    world.put(podResource, { ...first, metadata: { ...first.metadata, ...leaving } } as Pod);
    await world.reconcile(key);
    assert.equal(world.names(podResource).length, 2);
    world.put(slurmJobResource, { ...job(), spec: { ...job().spec, connection: { secretName: 'other' } } });
    await world.reconcile('default/other');
    assert.equal(world.names(podResource).length, 3);
  });
});
