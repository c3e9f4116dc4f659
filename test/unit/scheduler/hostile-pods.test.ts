/** Pods with thousands of terms: no data of a pod is stored once for each of its terms. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { spreadConstraints } from '../../../src/scheduler/spread-constraints.ts';
import { node, pod } from '../controllers/objects.ts';
import { decideWith, plain, snapshotOf } from './pods.ts';

const many = 2_500;
const longKey = (at: number) => `${'d'.repeat(240)}/${'x'.repeat(50)}${at}`;
const nodes = Array.from({ length: 50 }, (_, at) => node(`n${at}`, { labels: { host: `n${at}` } }));
const bound = Array.from({ length: 1_000 }, (_, at): Pod => {
  const made = pod(`b${at}`, { spec: { nodeName: `n${at % nodes.length}` } });
  return { ...made, metadata: { ...made.metadata, uid: `u${at}` } };
});

it('each of thousands of spread constraints has its own id, which stays short although the pod is large', () => {
  const constraints = Array.from({ length: many }, (_, at) => ({
    maxSkew: 1,
    topologyKey: longKey(at),
    whenUnsatisfiable: 'DoNotSchedule' as const,
  }));
  const selected = { nodeSelector: { [longKey(0)]: 'x'.repeat(60) } };
  const spread = plain({ topologySpreadConstraints: constraints, ...selected });
  const read = spreadConstraints(spread, 'DoNotSchedule');
  assert.equal(new Set(read.map(({ query }) => query.id)).size, many);
  assert.ok(read.every(({ query }) => query.id.length < 1_000));
});

it('a pod with affinity terms for thousands of topologies is decided to be unschedulable', () => {
  const terms = Array.from({ length: many }, (_, at) => ({
    topologyKey: longKey(at),
    labelSelector: { matchExpressions: [{ key: `k${at}`, operator: 'DoesNotExist' as const }] },
  }));
  const near = plain({
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
  });
  assert.equal(decideWith(near, snapshotOf(nodes, bound)).kind, 'unschedulable');
});
