import { dnsResource } from '../../../../../src/features/host-names/api/dns.ts';
import { testCreate } from '../../../../fixtures/kinds.ts';

const dns = {
  apiVersion: 'minik8s.io/v1',
  kind: 'Dns',
  metadata: { name: 'shop', namespace: 'default' },
  spec: { host: 'shop.example', paths: [{ path: '/', serviceName: 'web', servicePort: 80 }] },
};
const host = (name: string) => ({ spec: { host: name } });
const path = (fields: object) => ({
  spec: { paths: [{ path: '/', serviceName: 'web', servicePort: 80, ...fields }] },
});
const p0 = 'spec.paths[0]';

testCreate(dnsResource, dns, [
  ['a host and its root', {}],
  [
    'several paths',
    {
      spec: {
        paths: [
          { serviceName: 'web', servicePort: 80 },
          { path: '/api', serviceName: 'api', servicePort: 8080 },
          { path: '/api/v2/~x_.-', serviceName: 'api', servicePort: 8081 },
        ],
      },
    },
  ],
  [
    'a host with capitals',
    host('Shop.example'),
    'spec.host: Invalid value: "Shop.example": a lowercase RFC 1123',
  ],
  ['an address', host('192.0.2.1'), 'spec.host: Invalid value: "192.0.2.1": must be a name, not an address'],
  ['localhost', host('localhost'), 'spec.host: Invalid value: "localhost": must not be'],
  ['a wildcard', host('*.example'), 'spec.host: Invalid value: "*.example": a lowercase RFC 1123'],
  ['a long label', host(`${'a'.repeat(64)}.example`), 'spec.host: Invalid value: '],
  [
    'very many slashes, in linear time',
    path({ path: `${'/'.repeat(400_000)}x` }),
    `${p0}.path: Invalid value: `,
  ],
  ['no paths', { spec: { paths: [] } }, 'spec.paths: Required value: must have at least one path'],
  [
    'too many paths',
    {
      spec: {
        paths: Array.from({ length: 101 }, (_, n) => ({
          path: `/${n}`,
          serviceName: 'web',
          servicePort: 80,
        })),
      },
    },
    'spec.paths: Too many: 101: must have at most 100 items',
  ],
  ['a relative path', path({ path: 'api' }), `${p0}.path: Invalid value: "api": must begin with '/'`],
  ['a path that ends the directive', path({ path: '/; return 200' }), `${p0}.path: Invalid value: `],
  ['a path with a variable', path({ path: '/$host' }), `${p0}.path: Invalid value: "/$host"`],
  ['a path with a line break', path({ path: '/a\nb' }), `${p0}.path: Invalid value: `],
  ['a path with ..', path({ path: '/a/../b' }), `${p0}.path: Invalid value: "/a/../b": must not contain`],
  ['an empty path element', path({ path: '/a//b' }), `${p0}.path: Invalid value: "/a//b": must not contain`],
  ['a long path', path({ path: `/${'a'.repeat(1024)}` }), `${p0}.path: Invalid value: `],
  [
    'one path twice',
    {
      spec: {
        paths: [
          { path: '/a', serviceName: 'web', servicePort: 80 },
          { path: '/a/', serviceName: 'web', servicePort: 81 },
        ],
      },
    },
    'spec.paths[1].path: Duplicate value: "/a"',
  ],
  [
    'a service name',
    path({ serviceName: 'Web' }),
    `${p0}.serviceName: Invalid value: "Web": a DNS-1035 label`,
  ],
  [
    'port 0',
    path({ servicePort: 0 }),
    `${p0}.servicePort: Invalid value: 0: must be between 1 and 65535, inclusive`,
  ],
]);
