import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderHostsFile } from '../../../../../src/features/host-names/agent/render-hosts.ts';
import { routesOf } from '../../../../../src/features/host-names/agent/routes.ts';
import { makeService } from '../../../cluster-dns/objects.ts';
import { makeDns } from './objects.ts';

const services = [
  makeService('web', { clusterIP: '10.96.0.20', ports: [{ protocol: 'TCP', port: 80 }] }),
  makeService('api', { clusterIP: '10.96.0.21', ports: [{ protocol: 'TCP', port: 8080 }] }),
];
const serviceOf = (namespace: string, name: string) =>
  services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
const routes = (...dnses: ReturnType<typeof makeDns>[]) =>
  routesOf(dnses, serviceOf).map(
    ({ host, paths }) =>
      `${host}: ${paths.map(({ path, upstream }) => `${path} ${upstream ?? '-'}`).join(', ')}`,
  );

describe('routes', () => {
  it('cover all objects, sorted by host, the longest path first', () => {
    assert.deepEqual(
      routes(
        makeDns('b', 'b.example', [
          '/=web:80',
          '/api/v2=api:8080',
          '/api=api:8080',
          '/no=none:80',
          '/bad=web:81',
        ]),
        makeDns('a', 'a.example', ['/=api:8080']),
      ),
      [
        'a.example: / 10.96.0.21:8080',
        'b.example: /api/v2 10.96.0.21:8080, /api 10.96.0.21:8080, /bad -, /no -, / 10.96.0.20:80',
      ],
    );
  });

  it('join objects of one host, and the older one keeps a path that both have', () => {
    const young = makeDns('a', 'x.example', ['/=api:8080', '/new=api:8080'], {
      creationTimestamp: '2026-02-01T00:00:00Z',
    });
    const old = makeDns('b', 'x.example', ['/=web:80']);
    const expected = ['x.example: /new 10.96.0.21:8080, / 10.96.0.20:80'];
    assert.deepEqual(routes(young, old), expected);
    assert.deepEqual(routes(old, young), expected);
  });

  it('of a host are the paths of the namespace with the oldest object', () => {
    const ours = makeDns('z', 'x.example', ['/=web:80', '/late=api:8080']);
    const later = { creationTimestamp: '2026-01-01T00:00:01Z' };
    const theirs = makeDns('a', 'x.example', ['/api=api:8080'], { ...later, namespace: 'other' });
    const ownLater = makeDns('b', 'x.example', ['/b=web:80'], later);
    assert.deepEqual(routes(theirs, ownLater, ours), [
      'x.example: /late 10.96.0.21:8080, /b 10.96.0.20:80, / 10.96.0.20:80',
    ]);
    assert.deepEqual(routes(theirs, ownLater), ['x.example: /api -']);
    assert.deepEqual(routes(ownLater), ['x.example: /b 10.96.0.20:80']);
  });

  it('are limited to 1000 paths of the oldest objects in each namespace', () => {
    const paths = Array.from({ length: 100 }, (_, n) => `/${n}=web:80`);
    const many = Array.from({ length: 30 }, (_, n) => makeDns(`d${n}`, `h${n}.example`, paths));
    const newest = { creationTimestamp: '2026-01-01T00:00:01Z' };
    const late = makeDns('a', 'late.example', ['/=web:80'], newest);
    const theirs = makeDns('t', 'theirs.example', ['/=web:80'], { ...newest, namespace: 'other' });
    const served = routesOf([late, ...many, theirs], serviceOf);
    assert.equal(served.length, 11);
    assert.ok(served.some(({ host }) => host === 'theirs.example'));
    assert.ok(!served.some(({ host }) => host === 'late.example'));
  });

  it('lead only to Services in the namespace of the object', () => {
    assert.deepEqual(routes(makeDns('a', 'x.example', ['/=web:80'], { namespace: 'other' })), [
      'x.example: / -',
    ]);
  });
});

describe('the hosts file', () => {
  const text = '127.0.0.1 localhost\n# mine\n192.0.2.7 mine\n';
  const block = (owner: string, ...names: string[]) =>
    `# minik8s begin ${owner}\n${names.map((name) => `192.0.2.1\t${name}\n`).join('')}# minik8s end ${owner}\n`;
  const render = (from: string, owner: string, ...names: string[]) =>
    renderHostsFile(from, owner, '192.0.2.1', names);

  it('gets a block with the current names, which is removed with the last name', () => {
    const one = render(text, '/data', 'a.example');
    assert.equal(one, text + block('/data', 'a.example'));
    const two = render(one, '/data', 'a.example', 'b.example');
    assert.equal(two, text + block('/data', 'a.example', 'b.example'));
    assert.equal(render(two, '/data', 'a.example', 'b.example'), two);
    assert.equal(render(two, '/data'), text);
  });

  it('keeps the blocks of other data directories', () => {
    const both = render(render(text, '/one', 'a.example'), '/two', 'b.example');
    assert.equal(render(both, '/one'), text + block('/two', 'b.example'));
  });

  it('keeps its other lines if its block was damaged', () => {
    const broken = `${text}# minik8s begin /data\n192.0.2.1\ta.example\n192.0.2.8 yours\n`;
    assert.equal(render(broken, '/data'), `${text}192.0.2.1\ta.example\n192.0.2.8 yours\n`);
    assert.equal(render('', '/data'), '');
    assert.equal(
      render('127.0.0.1 localhost', '/data', 'a.example'),
      `127.0.0.1 localhost\n${block('/data', 'a.example')}`,
    );
  });
});
