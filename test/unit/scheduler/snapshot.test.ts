import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { type Policy, policies } from '../../../src/scheduler/policies.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { container, node, pod } from '../controllers/objects.ts';
import { decideWith, snapshotOf, wanting } from './pods.ts';

describe('Snapshot', () => {
  it('keeps the assumed node of a pod while the server does not show it yet', () => {
    const snapshot = snapshotOf([node('n')]);
    const one = wanting('p', { cpu: '1' });
    snapshot.assume(one, 'n');
    snapshot.setPod(one);
    assert.equal(snapshot.nodes[0]?.requested.get('cpu'), 1000);
    snapshot.forget(one.metadata.uid);
    assert.equal(snapshot.nodes[0]?.requested.get('cpu'), 0);
  });
  it('releases the resources of a pod that ended before it was bound', () => {
    const snapshot = snapshotOf([node('n')]);
    const one = wanting('p', { cpu: '1' });
    snapshot.assume(one, 'n');
    snapshot.setPod({ ...one, status: { ...one.status, phase: 'Failed' } });
    assert.equal(snapshot.nodes[0]?.requested.get('cpu'), 0);
    assert.equal(snapshot.isPlaced(one.metadata.uid), false);
  });
  it('forgets no pod that the server has shown on its node', () => {
    const snapshot = snapshotOf([node('n')]);
    const one = wanting('p', { cpu: '1' });
    snapshot.assume(one, 'n');
    snapshot.setPod({ ...one, spec: { ...one.spec, nodeName: 'n' } });
    snapshot.forget(one.metadata.uid);
    assert.equal(snapshot.nodes[0]?.requested.get('cpu'), 1000);
    assert.equal(snapshot.isPlaced(one.metadata.uid), true);
  });
  it('releases the resources of a pod that the server shows without a node, as after a restored backup', () => {
    const one = wanting('p', { cpu: '1' });
    const snapshot = snapshotOf([node('n')], [{ ...one, spec: { ...one.spec, nodeName: 'n' } }]);
    snapshot.setPod(one);
    assert.equal(snapshot.nodes[0]?.requested.get('cpu'), 0);
  });
  it('releases only the ports of a deleted pod', () => {
    const withPorts = (name: string, ...hostPorts: number[]) => {
      const ports = hostPorts.map((hostPort) => ({ containerPort: 80, protocol: 'TCP' as const, hostPort }));
      return pod(name, { spec: { nodeName: 'n', containers: [container({ ports })] } });
    };
    const [first, second] = [withPorts('first', 80, 443), withPorts('second', 8080)];
    const snapshot = snapshotOf([node('n')], [first, second]);
    const taken = () => snapshot.nodes[0]?.hostPorts.map(({ port }) => port);
    assert.deepEqual(taken(), [80, 443, 8080]);
    snapshot.removePod(first.metadata.uid);
    assert.deepEqual(taken(), [8080]);
    snapshot.setPod({ ...second, status: { ...second.status, phase: 'Succeeded' } });
    assert.deepEqual(taken(), []);
  });
  it('includes the pods of a node that is added later or returns', () => {
    const snapshot = snapshotOf([], [pod('b', { spec: { nodeName: 'n' } })]);
    snapshot.setNode(node('n'));
    assert.equal(snapshot.nodes[0]?.podCount, 1);
    snapshot.removeNode('n');
    snapshot.setNode(node('n'));
    assert.equal(snapshot.nodes[0]?.podCount, 1);
  });
  describe('a pod that is resized in place', () => {
    const sized = (wanted: string, has: string, status: Partial<Pod['status']> = {}): Pod => {
      const resources = (cpu: string) => ({ requests: { cpu } });
      const made = pod('p', {
        spec: { nodeName: 'n', containers: [container({ resources: resources(wanted) })] },
      });
      const containerStatuses = (made.status?.containerStatuses ?? []).map((one) => ({
        ...one,
        resources: resources(has),
      }));
      return { ...made, status: { ...made.status, containerStatuses, ...status } };
    };
    const table: [string, Pod, number][] = [
      ['counts the requested resources while fewer are allocated', sized('1500m', '1'), 1500],
      ['counts the allocated resources while fewer are requested', sized('500m', '1'), 1000],
      ['releases the rest when fewer are allocated', sized('500m', '500m'), 500],
      [
        'counts the allocated resources if the resize is infeasible',
        sized('3', '1', { resize: 'Infeasible' }),
        1000,
      ],
    ];
    for (const [what, last, expected] of table)
      it(what, () => {
        const events: string[] = [];
        const snapshot = new Snapshot(undefined, ({ kind }) => events.push(kind));
        snapshot.setNode(node('n'));
        snapshot.setPod(sized('1', '1'));
        // The specification is seen before the status.
        snapshot.setPod(sized(last.spec.containers[0]?.resources?.requests?.cpu ?? '', '1'));
        events.length = 0;
        snapshot.setPod(last);
        assert.equal(snapshot.nodes[0]?.requested.get('cpu'), expected);
        // Pods that wait for room are notified.
        if (expected < 1000 || last.status?.resize) assert.deepEqual(events, ['podChanged']);
      });
  });
});

describe('the policies', () => {
  for (const policy of policies)
    it(`never overcommit a node, and resources of removed pods are released, with ${policy}`, () => {
      for (let seed = 1; seed <= 15; seed++) fill(policy, new SeededRandom(seed));
    });

  function fill(policy: Policy, random: SeededRandom): void {
    const nodes = Array.from({ length: 4 }, (_, index) =>
      node(`n${index}`, {
        allocatable: { cpu: `${1 + random.below(4)}`, memory: '2Gi', pods: `${3 + random.below(5)}` },
      }),
    );
    const snapshot = snapshotOf(nodes);
    const placed = new Map<string, { pod: Pod; node: string }>();
    let lastNode: string | undefined;
    for (let round = 0; round < 120; round++) {
      const one = wanting(`p${round}`, { cpu: `${random.below(1500)}m`, memory: `${random.below(900)}Mi` });
      const decision = decideWith(one, snapshot, { policy, random, lastNode });
      if (decision.kind === 'node') {
        lastNode = decision.node;
        snapshot.assume(one, decision.node);
        if (random.below(2)) snapshot.setPod({ ...one, spec: { ...one.spec, nodeName: decision.node } });
        placed.set(one.metadata.uid, { pod: one, node: decision.node });
      }
      const [oldest] = placed.keys();
      if (oldest && random.below(3) === 0) {
        snapshot.removePod(oldest);
        placed.delete(oldest);
      }
      for (const info of snapshot.nodes) {
        const here = [...placed.values()].filter((entry) => entry.node === info.node.metadata.name);
        const cpu = here.reduce((sum, { pod: p }) => sum + milli(p), 0);
        assert.equal(info.requested.get('cpu') ?? 0, cpu);
        assert.ok(cpu <= (info.allocatable.get('cpu') ?? 0), 'more cpu requested than there is');
        assert.ok(here.length <= (info.allocatable.get('pods') ?? 0), 'more pods than the node may have');
        assert.equal(info.podCount, here.length);
      }
    }
  }

  const milli = (one: Pod) => Number.parseInt(one.spec.containers[0]?.resources?.requests?.cpu ?? '0', 10);
});
