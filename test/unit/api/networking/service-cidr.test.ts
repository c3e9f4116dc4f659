/** Fields of ServiceCIDRs and IPAddresses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipAddressResource } from '../../../../src/api/networking/v1/ip-address.ts';
import { serviceCIDRResource } from '../../../../src/api/networking/v1/service-cidr.ts';
import { cells, created, testCreate, testUpdate } from '../../../fixtures/kinds.ts';

const ranges = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'more' },
  spec: { cidrs: ['203.0.113.0/24'] },
};
const cidrs = (...texts: string[]) => ({ spec: { cidrs: texts } });

testCreate(serviceCIDRResource, ranges, [
  ['no ranges', { spec: { cidrs: null } }, 'spec.cidrs: Required value: at least one CIDR required'],
  ['no specification', { spec: null }, 'spec.cidrs: Required value: at least one CIDR required'],
  [
    'three ranges',
    cidrs('10.0.0.0/24', '10.0.1.0/24', 'fd00::/112'),
    'spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24","fd00::/112"]: may only hold up to 2 values',
  ],
  [
    'two ranges of one family',
    cidrs('10.0.0.0/24', '10.0.1.0/24'),
    'spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one IP for each IP family',
  ],
  ['a text', cidrs('x'), 'spec.cidrs[0]: Invalid value: "x": must be a valid CIDR value'],
  ['an address', cidrs('10.0.0.0'), 'spec.cidrs[0]: Invalid value: "10.0.0.0": must be a valid CIDR value'],
  [
    'a range that does not begin with its first address',
    cidrs('10.0.0.7/24'),
    'spec.cidrs[0]: Invalid value: "10.0.0.7/24": must be in canonical form ("10.0.0.0/24")',
  ],
  [
    'another spelling',
    cidrs('fd00:0::/112'),
    'spec.cidrs[0]: Invalid value: "fd00:0::/112": must be in canonical form ("fd00::/112")',
  ],
  [
    'a mapped range',
    cidrs('::ffff:10.0.0.0/120'),
    'spec.cidrs[0]: Invalid value: "::ffff:10.0.0.0/120": must not be an IPv4-mapped IPv6 address',
  ],
]);

testUpdate(serviceCIDRResource, ranges, [
  ['other labels', { metadata: { labels: { a: 'b' } } }],
  ['a range of the other family', cidrs('203.0.113.0/24', 'fd00::/112')],
  [
    'another range',
    cidrs('203.0.112.0/24'),
    'spec.cidrs[0]: Invalid value: "203.0.112.0/24": field is immutable',
  ],
  [
    'another order',
    cidrs('fd00::/112', '203.0.113.0/24'),
    'spec.cidrs[0]: Invalid value: "fd00::/112": field is immutable',
  ],
]);

const address = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IPAddress',
  metadata: { name: '203.0.113.7' },
  spec: { parentRef: { group: 'example.com', resource: 'things', namespace: 'a', name: 'b' } },
};

testCreate(ipAddressResource, address, [
  ['no reference', { spec: { parentRef: null } }, 'spec.parentRef: Required value'],
  ['no resource', { spec: { parentRef: { resource: null } } }, 'spec.parentRef.resource: Required value'],
  ['no name', { spec: { parentRef: { name: null } } }, 'spec.parentRef.name: Required value'],
  [
    'an invalid group',
    { spec: { parentRef: { group: 'A' } } },
    'spec.parentRef.group: Invalid value: "A": a lowercase RFC 1123 subdomain',
  ],
  [
    'an invalid name',
    { spec: { parentRef: { name: 'a/b' } } },
    'spec.parentRef.name: Invalid value: "a/b": may not contain \'/\'',
  ],
  [
    'a name that is no address',
    { metadata: { name: 'a' } },
    'metadata.name: Invalid value: "a": must be a valid IP address',
  ],
  [
    'a name in another spelling',
    { metadata: { name: 'fd00:0::1' } },
    'metadata.name: Invalid value: "fd00:0::1": must be in canonical form ("fd00::1")',
  ],
]);

testUpdate(ipAddressResource, address, [
  ['other labels', { metadata: { labels: { a: 'b' } } }],
  ['another reference', { spec: { parentRef: { name: 'c' } } }, 'spec.parentRef: Invalid value: '],
]);

test('the columns of both kinds', () => {
  const both = created(serviceCIDRResource, { ...ranges, spec: { cidrs: ['10.0.0.0/24', 'fd00::/112'] } });
  assert.equal(cells(serviceCIDRResource, both, 0).CIDRs, '10.0.0.0/24,fd00::/112');
  assert.equal(
    cells(ipAddressResource, created(ipAddressResource, address), 0).ParentRef,
    'things.example.com/a/b',
  );
  const ofService = { ...address, spec: { parentRef: { resource: 'services', namespace: 'a', name: 'b' } } };
  assert.equal(cells(ipAddressResource, created(ipAddressResource, ofService), 0).ParentRef, 'services/a/b');
});
