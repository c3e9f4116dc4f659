/** Numbers of the overview. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  nodeCounts,
  podCounts,
  requestCounts,
  totalUse,
} from '../../../../src/dashboard/app/pages/overview/plan/cluster-use.ts';
import { samplesWith } from '../../../../src/views/metric-samples.ts';
import { condition, node, pod, waiting } from '../../why/why-objects.ts';

describe('the numbers of the overview', () => {
  it('count nodes, and add up their allocatable resources', () => {
    const one = node('n1', {
      spec: { unschedulable: true },
      status: { conditions: [condition('Ready', 'True')], allocatable: { cpu: '2', memory: '1Gi' } },
    });
    const other = node('n2', { status: { allocatable: { cpu: '1500m', memory: '1Gi' } } });
    assert.deepEqual(nodeCounts([one, other]), {
      ...{ total: 2, ready: 1, cordoned: 1 },
      allocatable: { cpu: 3500, memory: 2 ** 31 },
    });
  });

  it('count pods by their state', () => {
    const pods = [
      pod('a', { status: { conditions: [condition('Ready', 'True')], phase: 'Running' } }),
      waiting('b', 'CrashLoopBackOff', ''),
      waiting('c', 'ContainerCreating', ''),
      pod('d', { status: { phase: 'Succeeded' } }),
      pod('e', { metadata: { deletionTimestamp: '2026-01-02T00:00:00Z' } }),
      pod('f', { status: { phase: 'Failed', reason: 'Evicted' } }),
    ];
    assert.deepEqual(podCounts(pods), { good: 1, bad: 2, waiting: 1, done: 1, ending: 1 });
  });

  it('add up the usage of the nodes, and skip invalid amounts', () => {
    const items = [
      { usage: { cpu: '250000000n', memory: '512Mi' } },
      { usage: { cpu: '1', memory: 'much' } },
    ];
    assert.deepEqual(totalUse({ items }), { cpu: 1250, memory: 2 ** 29 });
  });

  it('count the requests of the API server, and those that failed', () => {
    const page = [
      '# TYPE apiserver_request_total counter',
      'apiserver_request_total{code="200",verb="GET"} 10',
      'apiserver_request_total{code="404",verb="GET"} 2',
      'apiserver_request_total{code="503",verb="GET"} 3',
      'apiserver_current_inflight_requests 7',
    ].join('\n');
    assert.deepEqual(requestCounts(samplesWith(page, {})), { total: 15, failed: 3 });
  });
});
