/** Slices are grouped by their manager and Service, and by their ports. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EndpointPort, EndpointSlice } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import {
  hasSelector,
  portsKey,
  slicesManagedBy,
} from '../../../../src/controllers/services/managed-slices.ts';
import { meta, service } from '../objects.ts';

it('a slice belongs to its manager and to the Service that it names', () => {
  const { serviceOf } = slicesManagedBy('us');
  const of = (labels?: Record<string, string>) =>
    serviceOf({ metadata: meta('s', { labels }) } as EndpointSlice);
  const [name, manager] = ['kubernetes.io/service-name', 'endpointslice.kubernetes.io/managed-by'];
  assert.deepEqual(of({ [name]: 'web', [manager]: 'us' }), ['default/web']);
  assert.deepEqual(of({ [name]: 'web', [manager]: 'others' }), []);
  assert.deepEqual(of({ [name]: 'web' }), []);
  assert.deepEqual(of({ [manager]: 'us' }), []);
  assert.deepEqual(of(), []);
});

it('ports are equal in any order, and different if any field of a port differs', () => {
  const one: EndpointPort = { name: 'a', protocol: 'TCP', port: 1 };
  const two: EndpointPort = { name: 'b', protocol: 'TCP', port: 2 };
  assert.equal(portsKey([one, two]), portsKey([two, one]));
  assert.equal(portsKey([one]), portsKey([{ ...one, appProtocol: undefined }]));
  const keys = [
    [],
    [one],
    [one, two],
    [{ ...one, name: 'b' }],
    [{ ...one, protocol: 'UDP' as const }],
    [{ ...one, port: 2 }],
    [{ ...one, port: undefined }],
    [{ ...one, appProtocol: 'http' }],
  ].map(portsKey);
  assert.equal(new Set(keys).size, keys.length);
});

it('an empty selector counts as no selector', () => {
  assert.deepEqual(
    ([{ app: 'web' }, {}, undefined] as (Record<string, string> | undefined)[]).map((selector) =>
      hasSelector(service({ selector })),
    ),
    [true, false, false],
  );
});
