/** Annotations of Ingresses: values, rejections, and attempts to write into the configuration. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ingressSites } from '../../../../src/features/ingress/agent/plan/ingress-sites.ts';
import {
  annotationPrefix,
  readAnnotations,
  servedAnnotations,
} from '../../../../src/features/ingress/api/annotations.ts';
import { claimsOf } from '../../../../src/features/ingress/api/claims.ts';
import { patternProblem } from '../../../../src/features/ingress/api/path-pattern.ts';
import { renderNginx } from '../../../../src/web-server/render-nginx.ts';
import { makeService } from '../../cluster-dns/objects.ts';
import { makeIngress, prefix, toService } from './objects.ts';

const read = (name: string, value: string) => readAnnotations({ [`${annotationPrefix}${name}`]: value });

/** Texts that end a directive, expand a variable or begin a block. */
const attacks = [
  '1; } location /evil { return 200 evil; }',
  '"; evil "x',
  "'; evil 'x",
  '/$host/evil',
  '/a\nevil on;',
  '/a\\"; evil',
  '/$' + '{evil}',
  'https://a.example/$request_body',
  'https://a.example/"; evil',
  '0.0.0.0/0; allow all',
];

describe('annotations of Ingresses', () => {
  it('are parsed into values', () => {
    assert.deepEqual(read('proxy-body-size', '8m').values, { 'proxy-body-size': 8 * 1024 * 1024 });
    assert.deepEqual(read('proxy-read-timeout', '120').values, { 'proxy-read-timeout': 120 });
    assert.deepEqual(read('backend-protocol', 'grpc').values, { 'backend-protocol': 'GRPC' });
    assert.deepEqual(read('rewrite-target', '/$2').values, { 'rewrite-target': '/$2' });
  });

  it('prevent an Ingress from being served if they should protect it but have no effect', () => {
    for (const name of ['auth-url', 'auth-type', 'configuration-snippet', 'server-snippet', 'limit-rps'])
      assert.equal(read(name, 'x').isRefused, true, name);
    assert.equal(read('whitelist-source-range', 'anything').isRefused, true);
    assert.equal(read('app-root', '/x').isRefused, false);
    assert.deepEqual(read('app-root', '/x').problems[0]?.reason, 'UnsupportedAnnotation');
  });

  it('cannot add directives to the configuration with any content', () => {
    const serviceOf = () =>
      makeService('web', { clusterIP: '10.96.0.20', ports: [{ port: 80, protocol: 'TCP' }] });
    for (const name of [...servedAnnotations, 'allowlist-source-range']) {
      for (const attack of attacks) {
        const annotations = { 'enable-cors': 'true', affinity: 'cookie', [name]: attack };
        const ingress = makeIngress('one', {
          host: 'a.example',
          paths: [prefix('/', toService('web'))],
          annotations,
        });
        const facts = { certificates: new Map(), serviceOf, slicesOf: () => [], resolved: new Map() };
        const sites = ingressSites({ ...facts, claims: claimsOf([ingress], new Set()) });
        const config = renderNginx(sites, {
          httpPort: 80,
          directory: '/minik8s',
          temporary: '/tmp',
          generation: 'g',
        });
        assert.doesNotMatch(config, /evil|request_body|allow all/, `${name}: ${attack}`);
      }
    }
  });
});

describe('patterns of paths', () => {
  for (const pattern of ['/api(/|$)(.*)', '/v[0-9]+/(.*)', '/.*\\.php', '/(a|b)/x{2,3}', '/a?'])
    it(`may be ${pattern}`, () => assert.equal(patternProblem(pattern), undefined));

  for (const pattern of [
    '/(a+)+$',
    '/(a|aa)*x',
    '/(.*){20}',
    '/.*.*.*.*',
    '/(?=x)',
    '/(?<n>x)',
    '/\\1',
    '/a"b',
    '/a$b{',
    '/a\nb',
    '/a)',
    '/(a',
    '/[[:alpha:]]',
    'a',
    '/a{1000}',
    '/a**',
    `/${'a'.repeat(600)}`,
  ])
    it(`must not be ${JSON.stringify(pattern.slice(0, 20))}`, () =>
      assert.notEqual(patternProblem(pattern), undefined));
});
