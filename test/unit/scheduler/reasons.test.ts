import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { explain, report } from '../../../src/scheduler/explain.ts';
import { node } from '../controllers/objects.ts';
import { decideWith, plain, snapshotOf, wanting } from './pods.ts';

describe('explain', () => {
  const reasons = (one: Pod, nodes: readonly Node[]) => {
    const decision = decideWith(one, snapshotOf(nodes));
    assert.equal(decision.kind, 'unschedulable');
    return decision.kind === 'unschedulable' ? decision.nodes : [];
  };
  const tainted = (name: string) => node(name, { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] });
  const big = wanting('p', { cpu: '2500m', memory: '5Gi' });
  it("contains the number of each reason in upstream's words, and the nearest fit", () => {
    assert.equal(
      explain(
        reasons(big, [node('a', { allocatable: { cpu: '2', memory: '8Gi' } }), tainted('b'), tainted('c')]),
      ),
      '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {k: v}.' +
        ' Nearest fit: a lacks 500m cpu (requested 2500m, free 2).',
    );
  });
  it('reports that there are no nodes', () => {
    assert.equal(explain(reasons(plain(), [])), 'no nodes available to schedule pods');
  });
  it('reports every reason of each node as data, the nearest first', () => {
    assert.deepEqual(JSON.parse(report(reasons(big, [tainted('a'), node('b')]))), {
      total: 2,
      nodes: [
        {
          node: 'b',
          reasons: [
            {
              plugin: 'NodeResourcesFit',
              reason: 'Insufficient cpu',
              resource: 'cpu',
              requested: '2500m',
              free: '2',
            },
            {
              plugin: 'NodeResourcesFit',
              reason: 'Insufficient memory',
              resource: 'memory',
              requested: '5Gi',
              free: '4Gi',
            },
          ],
        },
        {
          node: 'a',
          reasons: [
            { plugin: 'TaintToleration', reason: 'node(s) had untolerated taint {k: v}' },
            {
              plugin: 'NodeResourcesFit',
              reason: 'Insufficient cpu',
              resource: 'cpu',
              requested: '2500m',
              free: '2',
            },
            {
              plugin: 'NodeResourcesFit',
              reason: 'Insufficient memory',
              resource: 'memory',
              requested: '5Gi',
              free: '4Gi',
            },
          ],
        },
      ],
    });
  });
  it('reports a reason that does not depend on a node', () => {
    const refused = { plugin: 'P', text: 'because', unresolvable: true as const };
    assert.deepEqual(JSON.parse(report([], 3, refused)), {
      total: 3,
      reason: { plugin: 'P', reason: 'because' },
      nodes: [],
    });
  });
});
