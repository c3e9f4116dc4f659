/** Metrics page of many objects: rendered over several turns, from lines that are rendered once. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { storageKey } from '../../../../src/apimachinery/resource-definition.ts';
import { StreamedAnswer } from '../../../../src/apiserver/transport/streamed-answer.ts';
import { Turns } from '../../../../src/apiserver/turns.ts';
import { silentLogger } from '../../../../src/base/log.ts';
import { objectKinds } from '../../../../src/kube-apiserver/object-metrics/object-kinds.ts';
import { ObjectMetricsPage } from '../../../../src/kube-apiserver/object-metrics/page.ts';
import type { CachedObject } from '../../../../src/storage/cache.ts';
import { typicalPod } from '../../../bench/pod-shape.ts';
import { readExposition } from '../../../fixtures/exposition-reader.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const many = 600;

describe('the page', () => {
  let objects: CachedObject[];
  /** Number of times that an object was read. */
  let read: number;
  let turns: number;
  let page: ObjectMetricsPage;

  const cached = (number: number, phase = 'Running'): CachedObject => {
    const pod = typicalPod(number);
    const object = { ...pod, status: { ...pod.status, phase } };
    return {
      key: storageKey(podResource, pod.metadata.namespace, pod.metadata.name),
      revision: 1,
      bytes: Buffer.alloc(0),
      object,
      get unowned() {
        read++;
        return object;
      },
    };
  };
  const sorted = (all: CachedObject[]) => all.toSorted((a, b) => (a.key < b.key ? -1 : 1));

  beforeEach(() => {
    [read, turns] = [0, 0];
    objects = sorted(Array.from({ length: many }, (_, number) => cached(number)));
    const clock = new FakeClock();
    const counted = { soon: (fn: () => void) => clock.soon(() => [turns++, fn()]) };
    const cache = { list: (prefix: string) => objects.filter(({ key }) => key.startsWith(prefix)) };
    const server = { cache, clock, log: silentLogger, turns: new Turns(counted) };
    page = new ObjectMetricsPage(server, objectKinds);
  });

  const source = () => {
    const answer = page.answer({ method: 'GET' });
    assert.ok(answer instanceof StreamedAnswer);
    return answer.source;
  };
  const pieces = async () => {
    const all: Buffer[] = [];
    for await (const piece of source()) all.push(piece);
    return all;
  };
  const phases = async () =>
    readExposition(Buffer.concat(await pieces()).toString()).get('kube_pod_status_phase')?.samples;

  test('keeps the samples of a family together, and no piece is large', async () => {
    const all = await pieces();
    // Reading fails for a family that occurs twice.
    const families = readExposition(Buffer.concat(all).toString());
    assert.equal(families.get('kube_pod_info')?.samples.size, many);
    assert.equal(families.get('kube_pod_container_status_ready')?.samples.size, 2 * many);
    assert.ok(all.length > 50, `${all.length} pieces`);
    assert.ok(Math.max(...all.map(({ length }) => length)) < 70_000);
    assert.ok(turns >= all.length, `${turns} turns for ${all.length} pieces`);
  });

  test('reads an object again only when it has changed', async () => {
    await pieces();
    assert.equal(read, many);
    await pieces();
    assert.equal(read, many);
    objects = sorted([...objects.slice(1), cached(many), cached(many + 1, 'Failed')]);
    const told = await phases();
    assert.equal(read, many + 2);
    assert.equal(told?.size, 5 * (many + 1));
    const failed = [...(told ?? [])].filter(
      ([sample, value]) => sample.includes('phase="Failed"') && value === 1,
    );
    assert.equal(failed.length, 1);
  });

  test('is not made further when its reader has left', async () => {
    const left = source();
    for await (const _ of left) break;
    const before = turns;
    for (let turn = 0; turn < 50; turn++) await setImmediate();
    assert.ok(left.destroyed);
    assert.ok(turns <= before + 1, `${turns - before} turns more`);
    assert.ok(turns < 200);
  });
});
