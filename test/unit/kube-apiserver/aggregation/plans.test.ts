import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import { backendOf } from '../../../../src/kube-apiserver/aggregation/backend.ts';
import {
  areSendable,
  escapedKey,
  identityHeaders,
} from '../../../../src/kube-apiserver/aggregation/identity-headers.ts';
import {
  answeredFields,
  hasBody,
  isRedirect,
} from '../../../../src/kube-apiserver/aggregation/proxy-plan.ts';

test('keys of extra fields are percent-encoded if a header cannot contain them', () => {
  assert.equal(escapedKey('example.com/roles'), 'example.com%2Froles');
  assert.equal(escapedKey('100%'), '100%25');
  assert.equal(escapedKey('Grün'), 'gr%C3%BCn');
});

test('the user has one header for each group and each value', () => {
  const user = { name: 'jörg', uid: 'u1', groups: ['a', 'b'], extra: { scopes: ['x', 'y'], none: [] } };
  assert.deepEqual(identityHeaders(user), {
    'X-Remote-User': 'jÃ¶rg',
    'X-Remote-Uid': 'u1',
    'X-Remote-Group': ['a', 'b'],
    'X-Remote-Extra-scopes': ['x', 'y'],
  });
  assert.deepEqual(identityHeaders({ name: 'a', groups: [] }), { 'X-Remote-User': 'a' });
});

test('a name with a line break cannot be sent', () => {
  assert.equal(areSendable(identityHeaders({ name: 'a\r\nX-Remote-Group: b', groups: [] })), false);
  assert.equal(areSendable(identityHeaders({ name: 'jörg', groups: ['system:masters'] })), true);
});

const service = (spec: object) => ({ metadata: { name: 'ext', namespace: 'a' }, spec }) as Service;
const slice = (endpoints: object[], ports = [{ name: 'https', port: 8443 }]) =>
  ({ addressType: 'IPv4', ports, endpoints }) as unknown as EndpointSlice;
const pod = { metadata: { name: 'p', namespace: 'a' }, status: { podIP: '10.244.0.7' } } as Pod;
const podOf = (name: string) => (name === 'p' ? pod : undefined);
const ports = [{ name: 'https', port: 443 }];
const ofPod = (namespace = 'a') => ({
  addresses: ['10.244.0.7'],
  conditions: {},
  targetRef: { kind: 'Pod', name: 'p', namespace },
});
const bare = (address: string, ready = true) => ({ addresses: [address], conditions: { ready } });

test('an endpoint is a pod of the namespace, or an address', () => {
  const of = (endpoint: object) =>
    backendOf({ service: service({ ports }), slices: [slice([endpoint])], podOf }, 443, 0);
  assert.deepEqual(of(ofPod()), { kind: 'pod', pod, address: '10.244.0.7', port: 8443 });
  assert.equal(of(ofPod('b')), undefined);
  assert.deepEqual(of(bare('192.0.2.7')), { kind: 'address', address: '192.0.2.7', port: 8443 });
});

for (const address of ['127.0.0.1', '169.254.169.254', '0.0.0.0'])
  test(`the address ${address} is refused, since only this machine reaches it`, () => {
    const slices = [slice([bare(address)])];
    assert.equal(backendOf({ service: service({ ports }), slices, podOf }, 443, 0), undefined);
  });

test('endpoints that are not ready, and ports of other names, are ignored', () => {
  const of = (slices: EndpointSlice[], port = 443) =>
    backendOf({ service: service({ ports }), slices, podOf }, port, 0);
  assert.equal(of([slice([bare('192.0.2.7', false)])]), undefined);
  assert.equal(of([slice([bare('192.0.2.7')], [{ name: 'metrics', port: 1 }])]), undefined);
  assert.equal(of([slice([bare('192.0.2.7')])], 444), undefined);
  assert.equal(backendOf({ service: undefined, slices: [], podOf }, 443, 0), undefined);
});

test('endpoints are chosen at random, and the next one is used if one cannot be reached', () => {
  const slices = [slice([bare('192.0.2.7'), bare('127.0.0.1'), bare('192.0.2.9')])];
  const drawn = (number: number) => {
    const found = backendOf({ service: service({ ports }), slices, podOf }, 443, number);
    return found && 'address' in found && found.address;
  };
  assert.deepEqual([0, 0.4, 0.9].map(drawn), ['192.0.2.7', '192.0.2.9', '192.0.2.9']);
});

test('an ExternalName Service leads to its name', () => {
  const named = service({ type: 'ExternalName', externalName: 'api.example' });
  assert.deepEqual(backendOf({ service: named, slices: [], podOf }, 443, 0), {
    kind: 'name',
    host: 'api.example',
    port: 443,
  });
});

test('a Service whose externalName is an address is called only if other machines can reach the address too', () => {
  const of = (externalName: string) =>
    backendOf({ service: service({ type: 'ExternalName', externalName }), slices: [], podOf }, 443, 0);
  for (const address of ['127.0.0.1', '127.1.2.3', '169.254.169.254', '0.0.0.0'])
    assert.equal(of(address), undefined, address);
  assert.deepEqual(of('192.0.2.7'), { kind: 'address', address: '192.0.2.7', port: 443 });
});

test('connection headers are not forwarded, and our own headers are added unless they exist', () => {
  const raw = ['Connection', 'x-hop', 'X-Hop', '1', 'Cache-Control', 'public'];
  assert.deepEqual(answeredFields(raw, { 'cache-control': 'no-cache', 'audit-id': '7' }), [
    'Cache-Control',
    'public',
    'audit-id',
    '7',
  ]);
});

test('only an answer with a location is a redirect', () => {
  assert.equal(isRedirect(302, 'https://a'), true);
  assert.equal(isRedirect(304, undefined), false);
  assert.equal(isRedirect(201, '/a'), false);
});

test('a GET has a body only if its headers announce one', () => {
  const request = (method: string, headers: Record<string, string>, body: object | null) =>
    hasBody({ method, headers: new Headers(headers), body: body as ReadableStream | null });
  assert.equal(request('GET', {}, {}), false);
  assert.equal(request('GET', { 'content-length': '3' }, {}), true);
  assert.equal(request('POST', {}, {}), true);
  assert.equal(request('POST', { 'content-length': '0' }, {}), false);
  assert.equal(request('POST', {}, null), false);
});
