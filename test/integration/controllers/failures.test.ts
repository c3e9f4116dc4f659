import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ReplicaSet, replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { type Store, StoreUnavailableError } from '../../../src/storage/store.ts';
import { startCluster } from './cluster.ts';

const labels = { app: 'web' };
const set = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 20,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
  },
} as unknown as Draft<ReplicaSet>;

it('while the store rejects pods, a ReplicaSet makes few attempts and records an event, and creates the pods when the store recovers', async () => {
  let broken = true;
  let refused = 0;
  const refusing = (store: Store): Store => ({
    ...store,
    create: async (key, value, claims) => {
      if (!broken || !key.startsWith('/registry/pods/')) return store.create(key, value, claims);
      refused++;
      throw new StoreUnavailableError('the disk is full');
    },
  });
  const cluster = await startCluster({ wrapStore: refusing });
  try {
    await cluster.client.resource(replicaSetResource).create(set);
    const failing = await cluster.eventually('the failure is reported', async () => {
      const current = await cluster.get(replicaSetResource, 'web');
      const condition = current?.status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
      return condition?.status === 'True' && condition;
    });
    assert.equal(failing.reason, 'FailedCreate');
    assert.ok(refused < 20, `${refused} attempts: a hopeless start must be cheap`);
    broken = false;
    const healed = await cluster.eventually('all pods are there', async () => {
      const current = await cluster.get(replicaSetResource, 'web');
      return current?.status?.replicas === 20 && !current.status.conditions && current;
    });
    assert.equal(healed.status?.fullyLabeledReplicas, 20);
    assert.equal((await cluster.list(podResource, 'default')).length, 20, 'not one too many');
    await cluster.eventually('an event reports it', async () =>
      (await cluster.list(eventResource, 'default')).some(
        ({ reason, type }) => reason === 'FailedCreate' && type === 'Warning',
      ),
    );
  } finally {
    await cluster.stop();
  }
});

it('a ReplicaSet whose pods have a missing service account records FailedCreate with the reason', async () => {
  const cluster = await startCluster();
  try {
    const named = structuredClone(set);
    named.spec.replicas = 1;
    named.spec.template.spec.serviceAccountName = 'mysa';
    await cluster.client.resource(replicaSetResource).create(named);
    const failing = await cluster.eventually('the failure is reported', async () => {
      const current = await cluster.get(replicaSetResource, 'web');
      return current?.status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
    });
    assert.equal(failing.reason, 'FailedCreate');
    const message = /error looking up service account default\/mysa: serviceaccount "mysa" not found/;
    assert.match(failing.message ?? '', message);
    await cluster.eventually('an event reports it', async () =>
      (await cluster.list(eventResource, 'default')).some(
        (event) => event.reason === 'FailedCreate' && message.test(event.message ?? ''),
      ),
    );
  } finally {
    await cluster.stop();
  }
});
