import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ElementTable } from '../../../src/service-proxy/element-table.ts';
import { type Elements, elementNames, elementsOf, noElements } from '../../../src/service-proxy/elements.ts';
import { renderDifference, renderTable } from '../../../src/service-proxy/render.ts';
import type { ServicePortRules } from '../../../src/service-proxy/service-map.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const rule = (address: string, endpoints: readonly string[], extra: Partial<ServicePortRules> = {}) => ({
  addresses: [address],
  protocol: 'tcp' as const,
  port: 80,
  endpoints: endpoints.map((ip) => ({ ip, port: 8080, local: true })),
  nodePort: undefined,
  ...extra,
});

/**
 * Returns the elements after a difference as nft applies it: nft rejects the removal of absent elements and
 * the addition of existing ones.
 */
function applyTo(kernel: Elements, { removed, added }: { removed: Elements; added: Elements }): Elements {
  const next = noElements();
  for (const name of elementNames) {
    for (const [key, value] of kernel[name]) next[name].set(key, value);
    for (const [key, value] of removed[name]) {
      assert.ok(next[name].has(key), `removes ${name} ${key}, which does not exist`);
      assert.equal(next[name].get(key), value, `removes ${name} ${key}, which has another value`);
      next[name].delete(key);
    }
    for (const [key, value] of added[name]) {
      assert.ok(!next[name].has(key), `adds ${name} ${key} twice`);
      next[name].set(key, value);
    }
  }
  return next;
}

const asObject = (elements: Elements) =>
  Object.fromEntries(elementNames.map((name) => [name, Object.fromEntries([...elements[name]].sort())]));

test('an element of two services stays until both have removed it', () => {
  const table = new ElementTable();
  table.replace('a', elementsOf([rule('10.96.0.1', ['10.244.0.2'])]));
  table.replace('b', elementsOf([rule('10.96.0.2', ['10.244.0.2'])]));
  table.commit();
  table.replace('a', noElements());
  assert.equal(table.difference().removed.hairpin.size, 0);
  table.replace('b', noElements());
  assert.equal(table.difference().removed.hairpin.size, 1);
});

test('a change that is reverted before it is applied is no change', () => {
  const table = new ElementTable();
  const one = elementsOf([rule('10.96.0.1', ['10.244.0.2'])]);
  table.replace('a', one);
  table.commit();
  table.replace('a', noElements());
  table.replace('a', one);
  assert.equal(renderDifference(new Set(), table.difference()), '');
});

test('differences, applied one after the other, lead to the elements of all services', () => {
  const random = new SeededRandom(7);
  const draw = (n: number) => random.below(n);
  const table = new ElementTable();
  const wanted = new Map<string, Elements>();
  let kernel: Elements = noElements();
  for (let round = 0; round < 300; round++) {
    for (let change = draw(4); change >= 0; change--) {
      const service = draw(8);
      const ips = [...new Set(Array.from({ length: draw(5) }, () => `10.244.0.${draw(6)}`))];
      const nodePort = { port: 30080 + draw(3), masquerade: true, endpoints: rule('', ips).endpoints };
      const addresses = [`10.96.0.${service}`, '203.0.113.1'];
      const sticky = draw(2) === 0 && { affinitySeconds: 60 };
      const more = { addresses, ...sticky, ...(draw(2) === 0 && { nodePort }) };
      const elements = elementsOf(draw(5) === 0 ? [] : [rule('', ips, more)]);
      table.replace(`service-${service}`, elements);
      wanted.set(`service-${service}`, elements);
    }
    assert.deepEqual(asObject(table.all()), asObject(ofAll(wanted)), `round ${round}`);
    if (draw(3) === 0) continue;
    kernel = applyTo(kernel, table.difference());
    table.commit();
    assert.deepEqual(asObject(kernel), asObject(table.all()), `round ${round}`);
  }
});

/** Returns the elements of all services; for each, the first service in the order of names wins. */
function ofAll(wanted: ReadonlyMap<string, Elements>): Elements {
  const all = noElements();
  for (const service of [...wanted.keys()].sort().reverse())
    for (const name of elementNames)
      for (const [key, value] of wanted.get(service)?.[name] ?? []) all[name].set(key, value);
  return all;
}

test('the table has every chain to which an element jumps', () => {
  const nodePort = {
    port: 30080,
    masquerade: true,
    endpoints: [{ ip: '10.244.0.2', port: 8080, local: true }],
  };
  const text = renderTable(
    '10.96.0.0/16',
    elementsOf([rule('10.96.0.1', ['10.244.0.2', '10.244.0.3'], { nodePort, affinitySeconds: 10_800 })]),
  );
  assert.match(text, /chain sticky-10800-2 \{ .*numgen random mod 2 offset \d+; .* map @endpoints; \}/);
  assert.match(text, /chain node-port-sticky-10800-1 \{ meta mark set .* map @node-port-endpoints; \}/);
  assert.match(
    text,
    /add element ip minik8s-proxy node-ports \{ tcp \. 30080 : goto node-port-sticky-10800-1 \}/,
  );
});
