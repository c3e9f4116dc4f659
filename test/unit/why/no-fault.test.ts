/** States that resemble a fault and are none, and faults at their limits: rules must tell them apart. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { explain } from '../../../src/why/explain.ts';
import type { KindKey } from '../../../src/why/kinds.ts';
import { RuleBook } from '../../../src/why/rule-book.ts';
import { rules } from '../../../src/why/rules/index.ts';
import { Snapshot } from '../../../src/why/snapshot.ts';
import { about, condition, now, object, pod } from './why-objects.ts';

const book = new RuleBook(rules);
type Objects = Readonly<Partial<Record<KindKey, readonly JsonObject[]>>>;

/** Returns the rules of the chain of an object. */
function rulesOf(key: KindKey, name: string, objects: Objects): readonly string[] {
  const seen = new Snapshot({ nowMs: Date.parse(now), objects });
  return explain(seen, about(key, name), book).map(({ rule }) => rule);
}

const labels = { app: 'web' };
const labeled = (name: string, more: JsonObject = {}) =>
  pod(name, { ...more, metadata: { ...(more.metadata as object), labels } });
const ready = (name: string) =>
  labeled(name, {
    spec: { nodeName: 'n1' },
    status: { phase: 'Running', conditions: [condition('Ready', 'True')] },
  });
const waits = (name: string) => labeled(name, { spec: { schedulingGates: [{ name: 'gate' }] } });

describe('a disruption budget', () => {
  const budget = (status: object) =>
    object('PodDisruptionBudget', 'web', {
      spec: { selector: { matchLabels: labels } },
      status: status as never,
    });
  const blocked = { expectedPods: 1, currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0 };
  const key = 'poddisruptionbudgets.policy';

  it('without pods blocks nothing', () => {
    const none = { ...blocked, expectedPods: 0, currentHealthy: 0, desiredHealthy: 0 };
    assert.deepEqual(rulesOf(key, 'web', { [key]: [budget(none)], pods: [] }), []);
  });

  it('is not blocked because of a pod that is being deleted', () => {
    const deleted = labeled('old', {
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
      status: { phase: 'Running' },
    });
    const objects = { [key]: [budget(blocked)], pods: [deleted] };
    assert.deepEqual(rulesOf(key, 'web', objects), ['budget-blocks']);
  });
});

describe('a paused Deployment', () => {
  it('whose pods all have the current template is in its desired state', () => {
    const key = 'deployments.apps';
    const paused = (updatedReplicas: number) =>
      object('Deployment', 'web', {
        spec: { replicas: 2, paused: true },
        status: { replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas },
      });
    assert.deepEqual(rulesOf(key, 'web', { [key]: [paused(2)], pods: [] }), []);
    assert.deepEqual(rulesOf(key, 'web', { [key]: [paused(1)], pods: [] }), ['deployment-paused']);
  });
});

describe('a Service', () => {
  const service = object('Service', 'web', {
    spec: { selector: labels, ports: [{ port: 80, name: 'http' }] },
  });
  const chain = (pods: readonly JsonObject[], more: Objects = {}) =>
    rulesOf('services', 'web', { services: [service], pods, ...more });

  it('with one ready pod of two has endpoints', () => {
    assert.deepEqual(chain([ready('a'), waits('b')]), []);
    assert.deepEqual(chain([waits('b')]), ['service-selector', 'pod-gated']);
  });

  it('whose only pod has ended matches no pod', () => {
    const ended = labeled('a', { status: { phase: 'Succeeded' } });
    const seen = new Snapshot({ nowMs: Date.parse(now), objects: { services: [service], pods: [ended] } });
    assert.match(explain(seen, about('services', 'web'), book)[0]?.finding.says ?? '', /matches no pod/);
  });

  it('is reached by an Ingress through the name of its port', () => {
    const key = 'ingresses.networking.k8s.io';
    const ingress = (port: object) =>
      object('Ingress', 'web', {
        spec: { defaultBackend: { service: { name: 'web', port: port as never } } },
      });
    const named = (port: object) =>
      rulesOf(key, 'web', { [key]: [ingress(port)], services: [service], pods: [ready('a')] });
    assert.ok(!named({ name: 'http' }).includes('ingress-service'));
    assert.ok(named({ name: 'https' }).includes('ingress-service'));
  });
});

describe('a claim', () => {
  const key = 'persistentvolumeclaims';
  const claim = object('PersistentVolumeClaim', 'data', {
    spec: {
      storageClassName: 'shelf',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    },
    status: { phase: 'Pending' },
  });
  const volume = (name: string, phase: string) =>
    object('PersistentVolume', name, {
      metadata: { namespace: '' },
      spec: { storageClassName: 'shelf', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
      status: { phase },
    });
  const chain = (...volumes: readonly JsonObject[]) =>
    rulesOf(key, 'data', {
      [key]: [claim],
      persistentvolumes: volumes,
      'storageclasses.storage.k8s.io': [],
      pods: [],
    });

  it('of a class that only volumes have does not lack its StorageClass', () => {
    assert.deepEqual(chain(volume('a', 'Released')), ['claim-volumes']);
    assert.deepEqual(chain(), ['claim-class']);
  });

  it('that fits one of two volumes does not lack a volume', () => {
    assert.ok(!chain(volume('a', 'Released'), volume('b', 'Available')).includes('claim-volumes'));
  });
});

describe('a deleted object', () => {
  const deleted = (deletionTimestamp: string, finalizers: readonly string[]) =>
    rulesOf('services', 'web', {
      services: [object('Service', 'web', { metadata: { deletionTimestamp, finalizers }, spec: {} })],
      pods: [],
    });

  it('counts as held by its finalizers only after 20 seconds, and only if it has some', () => {
    assert.deepEqual(deleted('2026-01-01T23:59:41Z', ['example.com/x']), []);
    assert.deepEqual(deleted('2026-01-01T23:59:40Z', ['example.com/x']), ['finalizer']);
    assert.deepEqual(deleted('2026-01-01T00:00:00Z', []), []);
  });
});

describe('a CronJob that forbids concurrent Jobs', () => {
  it('is not blocked by a Job that was started lately', () => {
    const [key, jobs] = ['cronjobs.batch', 'jobs.batch'] as const;
    const cron = object('CronJob', 'web', {
      spec: { concurrencyPolicy: 'Forbid', schedule: '@daily' },
      status: { active: [{ name: 'web-1' }] },
    });
    const job = (startTime: string) => object('Job', 'web-1', { status: { active: 1, ready: 1, startTime } });
    const chain = (startTime: string) =>
      rulesOf(key, 'web', { [key]: [cron], [jobs]: [job(startTime)], pods: [] });
    assert.deepEqual(chain('2026-01-01T23:00:00Z'), []);
    assert.equal(chain('2025-12-31T00:00:00Z')[0], 'cron-blocked');
  });
});

describe('a class and a Secret', () => {
  it('count as the default class only if the annotation is true', () => {
    const [key, classes] = ['persistentvolumeclaims', 'storageclasses.storage.k8s.io'] as const;
    const claim = object('PersistentVolumeClaim', 'data', { spec: {}, status: { phase: 'Pending' } });
    const annotated = (value: string) =>
      object('StorageClass', 'shelf', {
        metadata: { namespace: '', annotations: { 'storageclass.kubernetes.io/is-default-class': value } },
      });
    const chain = (value: string) =>
      rulesOf(key, 'data', {
        [key]: [claim],
        [classes]: [annotated(value)],
        persistentvolumes: [],
        pods: [],
      });
    assert.equal(chain('false')[0], 'claim-no-default');
    assert.notEqual(chain('true')[0], 'claim-no-default');
  });

  it('are not missed by an Ingress with TLS that names no Secret', () => {
    const key = 'ingresses.networking.k8s.io';
    const chain = (tls: JsonObject) =>
      rulesOf(key, 'web', { [key]: [object('Ingress', 'web', { spec: { tls: [tls] } })], secrets: [] });
    assert.ok(!chain({ hosts: ['shop.example.com'] }).includes('ingress-tls'));
    assert.ok(chain({ secretName: 'cert' }).includes('ingress-tls'));
  });
});
