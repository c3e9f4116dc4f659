import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ElementTable } from '../../../src/service-proxy/element-table.ts';
import { elementsOf } from '../../../src/service-proxy/elements.ts';
import type { ServicePortRules } from '../../../src/service-proxy/service-map.ts';
import { staleFlows } from '../../../src/service-proxy/stale-flows.ts';

const rule = (ips: readonly string[], over: Partial<ServicePortRules> = {}): ServicePortRules => ({
  addresses: ['10.96.0.53', '192.0.2.1'],
  protocol: 'udp',
  port: 53,
  endpoints: ips.map((ip) => ({ ip, port: 5353, local: false })),
  nodePort: undefined,
  ...over,
});
const onNodes = (ips: readonly string[], over: Partial<ServicePortRules> = {}): ServicePortRules => {
  const { endpoints } = rule(ips);
  return rule([], { addresses: [], nodePort: { port: 30053, endpoints, masquerade: true }, ...over });
};

/** Returns the arguments of conntrack that delete flows when a rule changes. */
function forgotten(before: ServicePortRules, after: ServicePortRules): readonly string[] {
  const table = new ElementTable();
  table.replace('s', elementsOf([before]));
  table.commit();
  table.replace('s', elementsOf([after]));
  return staleFlows(table.difference())
    .map((args) => args.join(' '))
    .sort();
}

describe('UDP flows', () => {
  it('to a deleted endpoint are deleted for every address of the Service', () => {
    assert.deepEqual(forgotten(rule(['10.244.0.2', '10.244.0.3']), rule(['10.244.0.2'])), [
      '-D -p udp --orig-dst 10.96.0.53 --orig-port-dst 53 --dst-nat 10.244.0.3',
      '-D -p udp --orig-dst 192.0.2.1 --orig-port-dst 53 --dst-nat 10.244.0.3',
    ]);
    assert.deepEqual(forgotten(onNodes(['10.244.0.2']), onNodes([])), [
      '-D -p udp --orig-port-dst 30053 --dst-nat 10.244.0.2',
    ]);
  });

  it('that began without an endpoint are deleted when the Service gets one', () => {
    assert.deepEqual(forgotten(rule([]), rule(['10.244.0.2'])), [
      '-D -p udp --orig-dst 10.96.0.53 --orig-port-dst 53',
      '-D -p udp --orig-dst 192.0.2.1 --orig-port-dst 53',
    ]);
    assert.deepEqual(forgotten(onNodes([]), onNodes(['10.244.0.2'])), ['-D -p udp --orig-port-dst 30053']);
  });

  it('to endpoints that stay are kept when others are added', () => {
    assert.deepEqual(forgotten(rule(['10.244.0.2']), rule(['10.244.0.2', '10.244.0.3'])), []);
    assert.deepEqual(forgotten(onNodes(['10.244.0.2']), onNodes(['10.244.0.2', '10.244.0.3'])), []);
  });

  for (const protocol of ['tcp', 'sctp'] as const) {
    it(`are deleted, flows of ${protocol} are not, since they end by themselves`, () => {
      const [some, none] = [rule(['10.244.0.2'], { protocol }), rule([], { protocol })];
      assert.deepEqual([...forgotten(some, none), ...forgotten(none, some)], []);
      const [here, gone] = [onNodes(['10.244.0.2'], { protocol }), onNodes([], { protocol })];
      assert.deepEqual([...forgotten(here, gone), ...forgotten(gone, here)], []);
    });
  }

  it('of IPv6 are deleted as flows of that family', () => {
    const table = new ElementTable();
    const of = (ips: readonly string[]) => elementsOf([rule(ips, { addresses: ['fd00:10:96::35'] })], 'IPv6');
    table.replace('dns', of(['fd00:10:244::2']));
    table.commit();
    table.replace('dns', of([]));
    assert.deepEqual(
      staleFlows(table.difference(), 'IPv6').map((args) => args.join(' ')),
      ['-D -p udp --orig-dst fd00:10:96::35 --orig-port-dst 53 --dst-nat fd00:10:244::2 -f ipv6'],
    );
  });
});
