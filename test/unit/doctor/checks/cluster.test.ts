import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClusterNodeFacts, clusterFindings } from '../../../../src/doctor/checks/cluster.ts';
import type { DroppingRule } from '../../../../src/doctor/checks/firewall.ts';
import type { NodeAnswer, PeerReach } from '../../../../src/doctor/node-answer.ts';

const address = { a: '192.0.2.1', b: '192.0.2.2' };
const reach = (node: 'a' | 'b', more: Partial<PeerReach> = {}): PeerReach => ({
  ...{ node, address: address[node], agent: {}, overlay: {}, large: { bytes: 1450 } },
  ...more,
});
const answer = (peers: readonly PeerReach[], more: Partial<NodeAnswer> = {}): NodeAnswer => ({
  ...{ time: 0, findings: [], drops: [], underlay: { name: 'eth0', mtu: 1500 }, peers },
  ...more,
});
const node = (name: 'a' | 'b', its: ClusterNodeFacts['answer'], more: Partial<ClusterNodeFacts> = {}) => ({
  ...{ name, address: address[name], isReady: true, message: '', answer: its, aheadMs: 0 },
  ...more,
});
const { large: _, ...withoutLarge } = reach('a');
const lines = (nodes: readonly ClusterNodeFacts[], check: string, aheadMs?: number) =>
  clusterFindings({ nodes, ...(aheadMs !== undefined && { aheadMs }) })
    .filter((finding) => finding.check === check)
    .map(
      ({ severity, node: where, found, mend }) => `${severity} ${where}: ${found}${mend ? ` # ${mend}` : ''}`,
    );
const drop = (rule: string): DroppingRule => ({ table: 'inet cut', chain: 'in', handle: 3, rule });

describe('reachability between nodes', () => {
  it('is stated for each direction', () =>
    assert.deepEqual(
      lines([node('a', answer([reach('b')])), node('b', answer([withoutLarge]))], 'reachability'),
      [
        'ok a: a to b: reached, also through the overlay with 1450 bytes',
        'ok b: b to a: reached, also through the overlay',
      ],
    ));

  const cut = reach('b', { agent: { problem: 'no answer within 2 s' } });

  it('is restored by deleting the rule of the receiver that names the sender', () => {
    const drops = [
      drop('ip saddr 192.0.2.11 drop'),
      { ...drop('ip saddr 192.0.2.1 tcp flags & (syn | ack) == syn drop'), handle: 7 },
    ];
    assert.deepEqual(lines([node('a', answer([cut])), node('b', answer([], { drops }))], 'reachability'), [
      'fault b: a to b: 192.0.2.2 does not answer (no answer within 2 s) # nft delete rule inet cut in handle 7',
    ]);
  });

  it('is restored by deleting the rule of the sender that names the receiver', () => {
    const drops = [drop('ip daddr { 192.0.2.9, 192.0.2.2 } drop')];
    assert.deepEqual(lines([node('a', answer([cut], { drops })), node('b', answer([]))], 'reachability'), [
      'fault a: a to b: 192.0.2.2 does not answer (no answer within 2 s) # nft delete rule inet cut in handle 3',
    ]);
  });

  it('is restored by a rule of the receiver that accepts the sender if no dropping rule is known', () => {
    assert.deepEqual(lines([node('a', answer([cut])), node('b', { problem: 'silent' })], 'reachability'), [
      'fault b: a to b: 192.0.2.2 does not answer (no answer within 2 s) # iptables -I INPUT --source 192.0.2.1 --jump ACCEPT',
    ]);
    const overlay = reach('b', { overlay: { problem: 'lost' } });
    assert.deepEqual(lines([node('a', answer([overlay]))], 'reachability'), [
      'fault b: a to b: no packet arrives through the overlay (lost) # iptables -I INPUT --source 192.0.2.1 --protocol udp --dport 8472 --jump ACCEPT',
    ]);
  });

  it('with large packets needs the same MTU on both machines', () => {
    const lost = reach('b', { large: { bytes: 1450, problem: 'no answer' } });
    const small = answer([], { underlay: { name: 'ens3', mtu: 1400 } });
    const text = 'a to b: packets of 1450 bytes do not arrive through the overlay, smaller ones do';
    assert.deepEqual(lines([node('a', answer([lost])), node('b', small)], 'reachability'), [
      `fault b: ${text}: ens3 of b has MTU 1400, eth0 of a 1500 # ip link set dev ens3 mtu 1500`,
    ]);
    assert.deepEqual(lines([node('a', answer([lost])), node('b', answer([]))], 'reachability'), [
      `fault a: ${text} # tracepath -n 192.0.2.2`,
    ]);
  });
});

describe('checks of nodes', () => {
  it('report the nodes that are not Ready, and the agents that do not answer', () => {
    const nodes = [
      node('a', answer([])),
      node('b', { problem: 'ECONNREFUSED' }, { isReady: false, message: 'no report' }),
    ];
    assert.deepEqual(lines(nodes, 'node-ready'), [
      'ok a: the node is Ready',
      'fault b: the node is not Ready: no report # minik8s ctl describe node b',
    ]);
    assert.deepEqual(lines(nodes, 'node-agent'), [
      'fault b: its agent at 192.0.2.2 does not answer: ECONNREFUSED',
    ]);
  });

  it('add the name of a node to its findings', () => {
    const own = answer([], {
      findings: [{ check: 'ports', severity: 'ok', found: 'free', node: 'another node' }],
    });
    assert.deepEqual(lines([node('a', own)], 'ports'), ['ok a: free']);
  });

  it('compare clocks', () => {
    const at = (aheadMs: number) => lines([node('a', answer([]), { aheadMs })], 'clock-node')[0];
    assert.equal(at(2000), "ok a: the node's clock is 2.0 s ahead of this machine's");
    assert.match(
      at(-2001) ?? '',
      /^warning a: the node's clock is 2\.0 s behind this machine's # timedatectl/,
    );
    assert.match(at(60_001) ?? '', /^fault a: /);
    assert.match(
      lines([], 'clock-api-server', 90_000)[0] ?? '',
      /^fault undefined: the API server's clock is 90\.0 s/,
    );
    assert.match(lines([], 'clock-api-server')[0] ?? '', /^note/);
  });
});
