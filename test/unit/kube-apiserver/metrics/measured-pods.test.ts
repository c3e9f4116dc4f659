/** The parts of pods that are kept while clients request the metrics of pods. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { MeasuredPods } from '../../../../src/kube-apiserver/metrics/measured-pods.ts';
import type { CachedObject, CacheEvent, CacheWatch } from '../../../../src/storage/cache.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const prefix = '/registry/pods/';

describe('the pods that are measured', () => {
  let clock: FakeClock;
  let stored: Map<string, CachedObject>;
  let decoded: number;
  let watches: CacheWatch[];
  let ended: number;
  let pods: MeasuredPods;
  beforeEach(async () => {
    [clock, stored, decoded, watches, ended] = [new FakeClock(), new Map(), 0, [], 0];
    const cache = {
      revision: 1,
      get: (key: string) => stored.get(key),
      list: (wanted: string) => [...stored.values()].filter(({ key }) => key.startsWith(wanted)),
      watch(_prefix: string, _after: number, watch: CacheWatch) {
        watches.push(watch);
        return Object.assign(() => void ended++, { handedOver: () => 1 });
      },
    };
    pods = new MeasuredPods({ cache, clock, store: undefined } as never);
    await clock.advance(1_000);
  });

  function cached(name: string, more: object = {}): CachedObject {
    const object = {
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { name, namespace: 'a', uid: `uid-${name}`, labels: { app: name } },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
      status: { phase: 'Running' },
      ...more,
    } as unknown as KubeObject;
    const read = () => {
      decoded++;
      return object;
    };
    return {
      ...{ key: `${prefix}a/${name}`, revision: 1, bytes: Buffer.from('') },
      get object() {
        return read();
      },
      get unowned() {
        return read();
      },
    };
  }
  const store = (...objects: CachedObject[]) => {
    for (const one of objects) stored.set(one.key, one);
  };
  const tell = (type: CacheEvent['type'], current: CachedObject) =>
    watches
      .at(-1)
      ?.onEvents(
        [{ type, key: current.key, revision: 2, current, previous: undefined, frame: Buffer.from('') }],
        2,
      );
  const query = { namespace: '', name: undefined, labelSelector: { requirements: [] }, fieldSelector: [] };
  const names = async (more: object = {}) =>
    (await pods.list({ ...query, ...more })).map(({ metadata }) => metadata.name);

  it('are decoded by the first request only, and then kept by a watch', async () => {
    store(cached('a'), cached('b'), cached('c'));
    assert.deepEqual(await names(), ['a', 'b', 'c']);
    tell('DELETED', cached('b'));
    tell('ADDED', cached('0'));
    const before = decoded;
    assert.deepEqual(await names(), ['0', 'a', 'c']);
    assert.deepEqual([decoded - before, watches.length], [0, 1]);
  });

  it('are those after a change that arrives while the first request decodes', async () => {
    store(...Array.from({ length: 250 }, (_, n) => cached(`p${1000 + n}`)));
    const first = pods.list(query);
    tell('DELETED', cached('p1249'));
    tell('MODIFIED', cached('p1248', { status: { phase: 'Failed' } }));
    await clock.settle();
    const found = await first;
    assert.deepEqual([found.length, found.at(-1)?.status?.phase], [249, 'Failed']);
  });

  it('are selected by namespace, labels, node and phase', async () => {
    store(cached('a'), cached('b', { status: { phase: 'Pending' } }));
    const of = (field: string, value: string) => ({ fieldSelector: [{ field, operator: '=', value }] });
    assert.deepEqual(await names({ namespace: 'b' }), []);
    assert.deepEqual(await names({ ...of('status.phase', 'Pending'), namespace: 'a' }), ['b']);
    assert.deepEqual(await names(of('spec.nodeName', 'n2')), []);
    const labels = { requirements: [{ key: 'app', operator: 'in', values: new Set(['b']) }] };
    assert.deepEqual(await names({ labelSelector: labels }), ['b']);
  });

  it('are read from the watch cache for another field, and for one pod', async () => {
    const never = { nodeName: 'n1', restartPolicy: 'Never', containers: [{ name: 'c' }] };
    store(cached('a'), cached('b', { spec: never }));
    const fieldSelector = [{ field: 'spec.restartPolicy', operator: '=', value: 'Never' }];
    assert.deepEqual(await names({ fieldSelector }), ['b']);
    assert.deepEqual(await names({ namespace: 'a', name: 'a' }), ['a']);
    assert.deepEqual(await names({ namespace: 'a', name: 'x' }), []);
    assert.equal(watches.length, 0);
  });

  it('are forgotten by the first change more than a minute after the last request', async () => {
    store(cached('a'));
    await names();
    await clock.advance(59_000);
    tell('MODIFIED', cached('a'));
    await clock.advance(2_000);
    assert.equal(ended, 0);
    tell('MODIFIED', cached('a'));
    assert.equal(ended, 1);
    assert.deepEqual([await names(), watches.length], [['a'], 2]);
  });

  it('are decoded again after the watch has expired', async () => {
    store(cached('a'));
    await names();
    store(cached('b'));
    watches[0]?.onExpired();
    assert.deepEqual([await names(), watches.length], [['a', 'b'], 2]);
  });
});
