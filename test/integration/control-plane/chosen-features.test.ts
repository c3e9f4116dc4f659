/** Masters that run some of the features, or none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { clusterRoleResource } from '../../../src/api/rbac/v1/cluster-role.ts';
import { KindSet } from '../../../src/apimachinery/kind-set.ts';
import { kindsWith } from '../../../src/features/kinds.ts';
import { type FeatureName, featureNames } from '../../../src/features/names.ts';
import { admin } from '../../fixtures/api-server.ts';
import { createTestPlane } from '../../fixtures/control-plane.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

const group = 'minik8s.io';

for (const features of [
  [],
  ['functions'],
  ['slurm'],
  ['host-names'],
  ['functions', 'workflows'],
  featureNames,
] as (readonly FeatureName[])[]) {
  test(`a master with ${features.join(', ') || 'no feature'} serves only the kinds of these features`, async () => {
    const clock = new FakeClock();
    const log = new RecordingLogger();
    const plane = await createTestPlane(clock, { features, kinds: new KindSet(kindsWith(features)), log });
    const stop = new AbortController();
    const running = plane.run(stop.signal);
    await clock.until(Promise.race([plane.ready, running]));
    const answer = await clock.until(
      plane.server.handlerFor(admin)(new Request(`https://master/apis/${group}/v1`)),
    );
    const kinds = kindsWith(features).filter((kind) => kind.group === group);
    assert.equal(answer.status, kinds.length === 0 ? 404 : 200);
    const { resources } = (answer.status === 200 ? await answer.json() : { resources: [] }) as {
      resources: readonly { name: string }[];
    };
    const names = resources.map(({ name }) => name).filter((name) => !name.includes('/'));
    assert.deepEqual(names.toSorted(), kinds.map(({ plural }) => plural).toSorted());

    const client = plane.clientOf(admin);
    const { items } = await client.resource(clusterRoleResource).list();
    const ruled = items.flatMap(({ rules }) => rules ?? []).filter((rule) => rule.apiGroups?.includes(group));
    const known = new Set(kinds.map(({ plural }) => plural));
    const others = ruled
      .flatMap(({ resources = [] }) => resources)
      .filter((name) => !known.has(name.split('/')[0] ?? ''));
    assert.deepEqual(others, []);

    const namespaces = client.resource(namespaceResource);
    await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' }, spec: {} });
    const pod = client.resource(podResource).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    } as never);
    // The admission of a pod waits for the ServiceAccount of its namespace.
    await clock.until(pod);
    await clock.until(namespaces.delete('shop'));
    await eventually(clock, 'the namespace and its pod are gone', async () => {
      const left = await namespaces.list();
      return !left.items.some(({ metadata }) => metadata.name === 'shop');
    });
    assert.deepEqual([...log.of('warn'), ...log.of('error')], []);
    stop.abort();
    await clock.until(running);
  });
}
