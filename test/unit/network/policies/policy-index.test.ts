import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { PolicyIndex } from '../../../../src/network/policies/plan/policy-index.ts';
import { policyPodOf } from '../../../../src/network/policies/plan/policy-pod.ts';
import { renderChange } from '../../../../src/network/policies/plan/render.ts';
import { noTables } from '../../../../src/network/policies/plan/tables.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { type Cluster, ipsOf, passes } from './oracle.ts';
import { Draw } from './random-cluster.ts';
import { familyOf, type Packet, readTables } from './table-reader.ts';

const keyOf = ({ metadata: { namespace, name } }: { metadata: { namespace?: string; name: string } }) =>
  `${namespace}/${name}`;

function setPod(index: PolicyIndex, pod: Pod): void {
  index.setPod(keyOf(pod), policyPodOf(pod));
  for (const ip of ipsOf(pod)) index.setLocal(ip, policyPodOf(pod));
}

function fill(cluster: Cluster): PolicyIndex {
  const index = new PolicyIndex();
  for (const [name, labels] of Object.entries(cluster.namespaces)) index.setNamespace(name, labels);
  for (const pod of cluster.pods) setPod(index, pod);
  for (const policy of cluster.policies) index.setPolicy(keyOf(policy), policy);
  return index;
}

function check(index: PolicyIndex, cluster: Cluster, packets: readonly Packet[], seed: number): void {
  const tables = { ip: index.tables('ip'), ip6: index.tables('ip6') };
  for (const packet of packets) {
    const wanted = passes(cluster, packet);
    const { passes: got } = readTables(tables[familyOf(packet.from)], packet);
    assert.equal(
      got,
      wanted,
      `seed ${seed}: ${JSON.stringify({ packet, policies: cluster.policies.map(({ spec }) => spec) })}`,
    );
  }
}

test('the tables pass exactly the packets that the policies allow, in random clusters', () => {
  let [allowed, denied] = [0, 0];
  for (let seed = 1; seed <= 400; seed++) {
    const draw = new Draw(new SeededRandom(seed));
    const cluster = draw.cluster();
    const packets = Array.from({ length: 60 }, () => draw.packet(cluster));
    check(fill(cluster), cluster, packets, seed);
    for (const packet of packets) passes(cluster, packet) ? allowed++ : denied++;
  }
  assert.ok(allowed > 2000 && denied > 2000, `${allowed} allowed and ${denied} denied packets show both`);
});

test('the tables of an index that is changed step by step pass what the current policies allow', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const draw = new Draw(new SeededRandom(seed));
    let cluster = draw.cluster();
    const index = fill(cluster);
    for (let step = 0; step < 12; step++) {
      cluster = change(index, cluster, draw);
      const packets = Array.from({ length: 20 }, () => draw.packet(cluster));
      check(index, cluster, packets, seed);
    }
  }
});

function change(index: PolicyIndex, cluster: Cluster, draw: Draw): Cluster {
  const { namespaces, pods, policies } = cluster;
  const kind = draw.below(4);
  if (kind === 0) {
    const pod = draw.pod(draw.below(6) + 1);
    const old = pods.find(({ metadata }) => metadata.name === pod.metadata.name);
    if (old) {
      index.setPod(keyOf(old), undefined);
      for (const ip of ipsOf(old)) index.setLocal(ip, undefined);
    }
    setPod(index, pod);
    return { ...cluster, pods: pods.map((own) => (own === old ? pod : own)) };
  }
  if (kind === 1) {
    const name = draw.of(Object.keys(namespaces));
    const labels = draw.labels();
    index.setNamespace(name, labels);
    return { ...cluster, namespaces: { ...namespaces, [name]: labels } };
  }
  if (kind === 2 && policies.length > 0) {
    const gone = draw.of(policies);
    index.setPolicy(keyOf(gone), undefined);
    return { ...cluster, policies: policies.filter((policy) => policy !== gone) };
  }
  const made = draw.policy(`policy-${draw.below(6)}`);
  index.setPolicy(keyOf(made), made);
  return { ...cluster, policies: [...policies.filter((own) => keyOf(own) !== keyOf(made)), made] };
}

const peersOnly = (app: string) => [{ podSelector: { matchLabels: { app } } }];

function many(count: number): Cluster {
  const draw = new Draw(new SeededRandom(1));
  const pod = draw.pod(1);
  pod.metadata.namespace = 'shop';
  pod.metadata.labels = { app: 'a' };
  const policies = Array.from({ length: count }, (_, index) => {
    const policy = draw.policy(`policy-${index}`);
    policy.metadata.namespace = 'shop';
    const ports = [{ protocol: 'TCP' as const, port: 1000 + index }];
    policy.spec = {
      podSelector: {},
      policyTypes: ['Ingress'],
      ingress: [
        { from: [...peersOnly(`peer-${index}`), { ipBlock: { cidr: `10.1.${index % 256}.0/24` } }], ports },
      ],
    };
    return policy;
  });
  return { namespaces: { shop: {} }, pods: [pod], policies };
}

test('a packet is compared with as many rules for 500 policies as for one', () => {
  const stepsBelow = (count: number) => {
    const index = fill(many(count));
    const packet = { from: '10.1.0.7', to: '10.0.0.1', protocol: 'tcp', port: 1000 } as const;
    return readTables(index.tables('ip'), packet);
  };
  assert.deepEqual(stepsBelow(500), stepsBelow(1));
  assert.equal(stepsBelow(500).passes, true);
});

test('a new pod that a peer selects changes only one element', () => {
  const cluster = many(50);
  const index = fill(cluster);
  const before = index.tables('ip');
  const pod = new Draw(new SeededRandom(2)).pod(9);
  pod.metadata.namespace = 'shop';
  pod.metadata.labels = { app: 'peer-7' };
  index.setPod('shop/new', policyPodOf(pod));
  const text = renderChange('ip', before, index.tables('ip'));
  assert.match(text, /^add element ip minik8s-policies pods-\d+ \{ 10\.0\.0\.9 \}\n$/);
});

test('nothing is written for the same objects twice, and all is removed with the policies', () => {
  const cluster = many(20);
  const index = fill(cluster);
  const first = index.tables('ip');
  assert.equal(renderChange('ip', first, index.tables('ip')), '');
  for (const policy of cluster.policies) index.setPolicy(keyOf(policy), policy);
  assert.equal(renderChange('ip', first, index.tables('ip')), '');
  for (const policy of cluster.policies) index.setPolicy(keyOf(policy), undefined);
  assert.deepEqual(index.tables('ip'), noTables);
});
