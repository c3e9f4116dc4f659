import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import {
  type Elements,
  elementNames,
  elementsOf,
  masqueradeSlotMark,
  noElements,
  slotMark,
} from '../../../src/service-proxy/elements.ts';
import { endpointIdLimit, endpointIds } from '../../../src/service-proxy/endpoint-ids.ts';
import { chainsOf, renderDifference, renderTable } from '../../../src/service-proxy/render.ts';
import type { EndpointAddress, ServicePortRules } from '../../../src/service-proxy/service-map.ts';

const endpoint = (ip: string, local = false): EndpointAddress => ({ ip, port: 8080, local });
const rule = (over: Partial<ServicePortRules> = {}): ServicePortRules => ({
  addresses: ['10.96.0.1'],
  protocol: 'tcp',
  port: 80,
  endpoints: [endpoint('10.244.0.2'), endpoint('10.244.1.2')],
  nodePort: undefined,
  ...over,
});
const nodePort = (masquerade: boolean, ...ips: string[]) => ({
  port: 30080,
  masquerade,
  endpoints: ips.map((ip) => endpoint(ip, true)),
});
/** Returns only the maps that are not empty. */
const asObject = (elements: Elements) =>
  Object.fromEntries(
    elementNames.flatMap((name) =>
      elements[name].size > 0 ? [[name, Object.fromEntries(elements[name])]] : [],
    ),
  );

describe('the elements of a rule', () => {
  it('lead from each of its addresses by a slot to each endpoint', () => {
    assert.deepEqual(asObject(elementsOf([rule({ addresses: ['10.96.0.1', '192.0.2.1'] })])), {
      services: { '10.96.0.1 . tcp . 80': 'goto random-2', '192.0.2.1 . tcp . 80': 'goto random-2' },
      endpoints: {
        [`10.96.0.1 . tcp . 80 . ${slotMark}`]: '10.244.0.2 . 8080',
        [`10.96.0.1 . tcp . 80 . ${slotMark + 1}`]: '10.244.1.2 . 8080',
        [`192.0.2.1 . tcp . 80 . ${slotMark}`]: '10.244.0.2 . 8080',
        [`192.0.2.1 . tcp . 80 . ${slotMark + 1}`]: '10.244.1.2 . 8080',
      },
    });
  });

  it('are empty without endpoints, so that the address is refused', () => {
    assert.deepEqual(elementsOf([rule({ endpoints: [], nodePort: nodePort(true) })]), noElements());
  });

  it('lead with session affinity from a slot to the identity of an endpoint, and from there to the endpoint', () => {
    const sticky = { affinitySeconds: 90, nodePort: nodePort(true, '10.244.0.2') };
    const elements = elementsOf([rule({ ...sticky, endpoints: [endpoint('10.244.0.2')] })]);
    const id = endpointIdLimit + (endpointIds([{ ip: '10.244.0.2', port: 8080 }])[0] ?? 0);
    assert.deepEqual(asObject(elements), {
      services: { '10.96.0.1 . tcp . 80': 'goto sticky-90-1' },
      endpoints: { [`10.96.0.1 . tcp . 80 . ${slotMark + id}`]: '10.244.0.2 . 8080' },
      'endpoint-ids': { [`10.96.0.1 . tcp . 80 . ${slotMark}`]: String(slotMark + id) },
      'node-ports': { 'tcp . 30080': 'goto node-port-sticky-90-1' },
      'node-port-endpoints': { [`tcp . 30080 . ${masqueradeSlotMark + id}`]: '10.244.0.2 . 8080' },
      'node-port-endpoint-ids': {
        [`tcp . 30080 . ${masqueradeSlotMark}`]: String(masqueradeSlotMark + id),
      },
      hairpin: { '10.244.0.2 . 10.244.0.2': '' },
    });
  });

  it('give an endpoint the same identity beside any other endpoints', () => {
    const idsOf = (...ips: readonly string[]) =>
      [
        ...elementsOf([rule({ affinitySeconds: 90, endpoints: ips.map((ip) => endpoint(ip)) })]).endpoints,
      ].map(([key, target]) => `${target} ${key}`);
    const few = idsOf('10.244.0.2', '10.244.0.4');
    const many = idsOf('10.244.0.1', '10.244.0.2', '10.244.0.3', '10.244.0.4');
    for (const one of few) assert.ok(many.includes(one), one);
  });

  it('hide the client of a node port unless the endpoints are all of this node', () => {
    const hidden = elementsOf([
      rule({ addresses: [], endpoints: [], nodePort: nodePort(true, '10.244.0.2', '10.244.0.3') }),
    ]);
    assert.deepEqual(asObject(hidden), {
      'node-ports': { 'tcp . 30080': 'goto node-port-random-2' },
      'node-port-endpoints': {
        [`tcp . 30080 . ${masqueradeSlotMark}`]: '10.244.0.2 . 8080',
        [`tcp . 30080 . ${masqueradeSlotMark + 1}`]: '10.244.0.3 . 8080',
      },
      hairpin: { '10.244.0.2 . 10.244.0.2': '', '10.244.0.3 . 10.244.0.3': '' },
    });
    const shown = elementsOf([
      rule({ addresses: [], endpoints: [], nodePort: nodePort(false, '10.244.0.2') }),
    ]);
    assert.deepEqual([...shown['node-ports'].values()], ['goto node-port-local-random-1']);
    assert.deepEqual([...shown['node-port-endpoints'].keys()], [`tcp . 30080 . ${slotMark}`]);
  });

  it('allow only endpoints of this node to reach themselves', () => {
    const { hairpin } = elementsOf([
      rule({ endpoints: [endpoint('10.244.0.2', true), endpoint('10.244.1.2')] }),
    ]);
    assert.deepEqual([...hairpin], [['10.244.0.2 . 10.244.0.2', '']]);
  });

  it('are the elements of the first rule of two for the same address and port', () => {
    const other = rule({ endpoints: [endpoint('10.244.0.9')], nodePort: nodePort(false, '10.244.0.9') });
    const { services, endpoints, ...both } = elementsOf([
      rule({ nodePort: nodePort(true, '10.244.0.2') }),
      other,
    ]);
    assert.deepEqual([...services.values()], ['goto random-2']);
    assert.equal(endpoints.size, 2);
    assert.deepEqual([...both['node-ports'].values()], ['goto node-port-random-1']);
    assert.equal(both['node-port-endpoints'].size, 1);
    assert.equal(elementsOf([rule(), rule({ port: 81 })]).services.size, 2);
  });
});

/** Returns the chains of a text: the slots that each draws, and the map in which it looks the endpoint up. */
const chainsIn = (text: string) =>
  new Map(
    [
      ...text.matchAll(
        /chain ([a-z0-9-]+-\d+) \{.* numgen random mod (\d+) offset (\d+);.* dnat ip addr \. port to (.+?) map @([a-z-]+); \}/g,
      ),
    ].map(([, name = '', count, offset, key, map]) => [
      name,
      { count: Number(count), offset: Number(offset), key, map },
    ]),
  );

test('every slot of a chain has an endpoint', () => {
  const rules = [
    rule({ nodePort: nodePort(true, '10.244.0.2', '10.244.0.3', '10.244.0.4') }),
    rule({
      addresses: ['10.96.0.2'],
      affinitySeconds: 10_800,
      nodePort: { ...nodePort(false, '10.244.0.5'), port: 30081 },
    }),
    rule({
      addresses: ['10.96.0.3'],
      nodePort: { ...nodePort(false, '10.244.0.5', '10.244.0.6'), port: 30082 },
    }),
    rule({
      addresses: ['10.96.0.4'],
      affinitySeconds: 10_800,
      nodePort: { ...nodePort(true, '10.244.0.5'), port: 30083 },
    }),
  ];
  const elements = elementsOf(rules);
  const text = renderTable('10.96.0.0/16', elements);
  const chains = chainsIn(text);
  for (const [from, to, key, ids] of [
    ['services', 'endpoints', 'ip daddr . meta l4proto . th dport . meta mark', 'endpoint-ids'],
    ['node-ports', 'node-port-endpoints', 'meta l4proto . th dport . meta mark', 'node-port-endpoint-ids'],
  ] as const) {
    const reached = [...elements[from]].flatMap(([address, verdict]) => {
      const name = verdict.replace('goto ', '');
      const chain = chains.get(name);
      assert.ok(chain, verdict);
      assert.deepEqual([chain.key, chain.map], [key, to]);
      const slots = Array.from({ length: chain.count }, (_, slot) => `${address} . ${chain.offset + slot}`);
      if (!name.includes('sticky')) return slots;
      return slots.map((slot) => `${address} . ${elements[ids].get(slot)}`);
    });
    assert.deepEqual(reached.sort(), [...elements[to].keys()].sort());
  }
  assert.deepEqual(new Set(chains.keys()), chainsOf(elements));
});

test('a mark names its owner by its high bits, in every slot', () => {
  const text = renderTable('10.96.0.0/16', noElements());
  const told = [...text.matchAll(/meta mark and (\d+) == (\d+) /g)].map(([, ...bits]) => bits.map(BigInt));
  assert.deepEqual(
    new Set(told.map(([, mark]) => mark)),
    new Set([masqueradeSlotMark, slotMark].map(BigInt)),
  );
  for (const [mask = 0n, mark = 0n] of told)
    for (const slot of [0n, 1n, 2n ** 24n - 1n]) assert.equal((mark + slot) & mask, mark);
});

describe('the text of the whole table', () => {
  const nodePorts = [
    rule({ nodePort: nodePort(true, '10.244.0.2') }),
    rule({ port: 81, affinitySeconds: 10_800 }),
  ];

  it('adds the elements after the table, with a line for each map that has some', () => {
    const lines = (...rules: ServicePortRules[]) => {
      const [, after] = renderTable('10.96.0.0/16', elementsOf(rules)).split('\n}\n');
      return after?.split('\n').map((line) => line.replace(/ \{.*/, ''));
    };
    assert.deepEqual(lines(), ['']);
    assert.deepEqual(lines(rule()), [
      'add element ip minik8s-proxy services',
      'add element ip minik8s-proxy endpoints',
      '',
    ]);
  });

  it('is the same for any order of the elements', () => {
    const elements = elementsOf(nodePorts);
    const reversed = Object.fromEntries(
      elementNames.map((name) => [name, new Map([...elements[name]].reverse())]),
    ) as unknown as Elements;
    assert.equal(renderTable('10.96.0.0/16', reversed), renderTable('10.96.0.0/16', elements));
    const [none, known] = [noElements(), new Set<string>()];
    assert.equal(
      renderDifference(known, { removed: none, added: reversed }),
      renderDifference(known, { removed: none, added: elements }),
    );
  });
});

describe('the text of a change', () => {
  const before = elementsOf([rule()]);
  const after = elementsOf([rule({ addresses: ['10.96.0.9'], endpoints: [endpoint('10.244.0.2', true)] })]);

  it('removes by key, in order, and adds with values, after new chains', () => {
    const text = renderDifference(chainsOf(before), { removed: before, added: after });
    assert.deepEqual(
      text
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(/ (meta mark set|ip daddr) .*/, '')),
      [
        'table ip minik8s-proxy {',
        '  chain random-1 {',
        '}',
        'delete element ip minik8s-proxy services { 10.96.0.1 . tcp . 80 }',
        'add element ip minik8s-proxy services { 10.96.0.9 . tcp . 80 : goto random-1 }',
        `delete element ip minik8s-proxy endpoints { 10.96.0.1 . tcp . 80 . ${slotMark}, 10.96.0.1 . tcp . 80 . ${slotMark + 1} }`,
        `add element ip minik8s-proxy endpoints { 10.96.0.9 . tcp . 80 . ${slotMark} : 10.244.0.2 . 8080 }`,
        'add element ip minik8s-proxy hairpin { 10.244.0.2 . 10.244.0.2 }',
      ],
    );
  });

  it('does not create a chain again, which would duplicate its rules', () => {
    const none = noElements();
    assert.doesNotMatch(renderDifference(chainsOf(before), { removed: none, added: before }), /chain/);
    assert.equal(renderDifference(new Set(), { removed: none, added: none }), '');
  });
});
