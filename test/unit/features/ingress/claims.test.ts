/** Paths of Ingresses: the owner of each, and the problems of the others. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { certificatesByHost, certificateUses } from '../../../../src/features/ingress/api/certificates.ts';
import { claimsOf } from '../../../../src/features/ingress/api/claims.ts';
import { makeIngress, prefix, toService } from './objects.ts';

const web = toService('web');

/** Returns lines such as `shop.example Prefix /api shop/one`. */
function claimed(...ingresses: ReturnType<typeof makeIngress>[]) {
  const { byHost, problems } = claimsOf(ingresses, new Set(['dns.example']));
  const lines = [...byHost].flatMap(([host, claims]) =>
    claims.map(
      ({ match, ingress: { metadata } }) =>
        `${host} ${match.type} ${match.path} ${metadata.namespace}/${metadata.name}`,
    ),
  );
  return { lines: lines.sort(), reasons: [...problems.values()].flat().map(({ reason }) => reason) };
}

describe('paths of Ingresses', () => {
  it('belong to the older of two Ingresses with the same path', () => {
    const one = makeIngress('one', { host: 'a.example', paths: [prefix('/x', web)], age: 2 });
    const two = makeIngress('two', { host: 'A.example', paths: [prefix('/x/', web)], age: 1 });
    const { lines, reasons } = claimed(one, two);
    assert.deepEqual(lines, ['a.example Prefix /x shop/two']);
    assert.deepEqual(reasons, ['PathTaken']);
  });

  it('of another namespace cannot be taken by an Exact path', () => {
    const one = makeIngress('one', { host: 'a.example', paths: [prefix('/x', web)] });
    const exact = { path: '/x/', pathType: 'Exact', backend: web } as const;
    const theirs = makeIngress('two', { host: 'a.example', paths: [exact], namespace: 'evil', age: 1 });
    assert.deepEqual(claimed(one, theirs).lines, ['a.example Prefix /x shop/one']);
    const ours = makeIngress('two', { host: 'a.example', paths: [exact], age: 1 });
    assert.equal(claimed(one, ours).lines.length, 2);
  });

  it('of two namespaces share a host, except for patterns of the younger one', () => {
    const one = makeIngress('one', { host: 'a.example', paths: [prefix('/x', web)] });
    const other = { host: 'a.example', namespace: 'other', age: 1 };
    const plain = makeIngress('two', { ...other, paths: [prefix('/y', web)] });
    assert.equal(claimed(one, plain).lines.length, 2);
    const pattern = makeIngress('two', {
      ...other,
      annotations: { 'use-regex': 'true' },
      paths: [{ path: '/.*', pathType: 'ImplementationSpecific', backend: web }],
    });
    const { lines, reasons } = claimed(one, pattern);
    assert.deepEqual(lines, ['a.example Prefix /x shop/one']);
    assert.deepEqual(reasons, ['PathTaken']);
  });

  it('of a host that a Dns object has are not served', () => {
    const { lines, reasons } = claimed(
      makeIngress('one', { host: 'dns.example', paths: [prefix('/', web)] }),
    );
    assert.deepEqual([lines, reasons], [[], ['PathTaken']]);
  });

  it('include the default backend: for every other host, or for the other paths of the hosts', () => {
    const all = makeIngress('all', { defaultBackend: web });
    assert.deepEqual(claimed(all).lines, [' Prefix / shop/all']);
    const some = makeIngress('some', { host: 'a.example', paths: [prefix('/x', web)], defaultBackend: web });
    assert.deepEqual(claimed(some).lines, ['a.example Prefix / shop/some', 'a.example Prefix /x shop/some']);
  });

  for (const path of ['/a"; } evil', '/a$host', '/a\\b', '/a{b', '/a b', '/a\nb', '/ä', '/%41'])
    it(`are not served with characters that a configuration could misread: ${JSON.stringify(path)}`, () => {
      const { lines, reasons } = claimed(
        makeIngress('one', { host: 'a.example', paths: [prefix(path, web)] }),
      );
      assert.deepEqual([lines, reasons], [[], ['PathNotServed']]);
    });

  it('are refused as a whole if they would exceed the limit of the namespace', () => {
    const paths = Array.from({ length: 3000 }, (_, n) => prefix(`/${n}`, web));
    const old = makeIngress('old', { host: 'a.example', paths });
    const young = makeIngress('young', { host: 'b.example', paths, age: 1 });
    const { lines, reasons } = claimed(young, old);
    assert.equal(lines.length, 3000);
    assert.ok(lines.every((line) => line.endsWith('shop/old')));
    assert.deepEqual(reasons, ['TooManyPaths']);
  });
});

describe('certificates of hosts', () => {
  it('are only used from the namespace that owns the host', () => {
    const one = makeIngress('one', { host: 'a.example', paths: [prefix('/', web)] });
    const tls = [{ hosts: ['a.example'], secretName: 'cert' }];
    const options = { host: 'a.example', paths: [prefix('/y', web)], tls, age: 1 };
    const theirs = makeIngress('two', { ...options, namespace: 'evil' });
    const ours = makeIngress('three', options);
    const find = (...all: ReturnType<typeof makeIngress>[]) => [
      ...certificatesByHost(certificateUses(all), claimsOf(all, new Set()), () => true),
    ];
    assert.deepEqual(find(one, theirs), []);
    assert.deepEqual(find(one, theirs, ours), [['a.example', 'shop/cert']]);
  });
});
