import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingressResource } from '../../../../../src/api/networking/v1/ingress.ts';
import { ingressClassResource } from '../../../../../src/api/networking/v1/ingress-class.ts';
import {
  cells,
  created,
  merge,
  testCreate,
  testStatus,
  testUpdate,
  warnings,
} from '../../../../fixtures/kinds.ts';
import { head, spec } from '../../../../fixtures/workloads.ts';

const service = { service: { name: 'web', port: { number: 80 } } };
const path = { path: '/', pathType: 'Prefix', backend: service };
const ingress = {
  ...head('networking.k8s.io/v1', 'Ingress'),
  spec: { ingressClassName: 'nginx', rules: [{ host: 'web.example', http: { paths: [path] } }] },
};
const rule = (fields: object) => spec({ rules: [{ host: 'web.example', ...fields }] });
const pathWith = (fields: object) => rule({ http: { paths: [merge(path, fields)] } });
const backend = (fields: object) => spec({ rules: null, defaultBackend: fields });
const at = 'spec.rules[0].http.paths[0]';
const annotated = (name: string) => ({ metadata: { annotations: { 'kubernetes.io/ingress.class': name } } });

testCreate(ingressResource, ingress, [
  ['a default backend', backend(service)],
  [
    'neither',
    spec({ rules: [] }),
    'spec: Invalid value: []: either `defaultBackend` or `rules` must be specified',
  ],
  ['a wildcard host', rule({ host: '*.web.example' })],
  [
    'invalid hosts',
    spec({ rules: [{ host: 'Web' }, { host: '*.*.example' }, { host: 'a.*' }, { host: '10.0.0.1' }] }),
    'spec.rules[0].host: Invalid value: "Web": a lowercase RFC 1123 subdomain',
    'spec.rules[1].host: Invalid value: "*.*.example": a wildcard DNS-1123 subdomain',
    'spec.rules[2].host: Invalid value: "a.*": a wildcard DNS-1123 subdomain',
    'spec.rules[3].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
  ],
  ['a host without paths', rule({ http: null })],
  ['no paths', rule({ http: { paths: [] } }), 'spec.rules[0].http.paths: Required value'],
  ['no path type', pathWith({ pathType: null }), `${at}.pathType: Required value`],
  [
    'an unknown path type',
    pathWith({ pathType: 'Regex' }),
    `${at}.pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
  ],
  ['no path at all', pathWith({ pathType: 'ImplementationSpecific', path: null })],
  [
    'no path although the type requires one',
    pathWith({ pathType: 'Exact', path: null }),
    `${at}.path: Invalid value: "": must be an absolute path`,
  ],
  [
    'a path without a leading slash',
    pathWith({ pathType: 'ImplementationSpecific', path: 'a//b' }),
    `${at}.path: Invalid value: "a//b": must be an absolute path`,
  ],
  [
    'paths with .. and encoded slashes',
    pathWith({ path: '/a//b/./c/../d%2fe%2F/..' }),
    ...['//', '/./', '/../', '%2f', '%2F'].map(
      (part) => `${at}.path: Invalid value: "/a//b/./c/../d%2fe%2F/..": must not contain '${part}'`,
    ),
    `${at}.path: Invalid value: "/a//b/./c/../d%2fe%2F/..": cannot end with '/..'`,
  ],
  [
    'a path that ends with /.',
    pathWith({ path: '/a/.' }),
    `${at}.path: Invalid value: "/a/.": cannot end with '/.'`,
  ],
  [
    'no backend',
    pathWith({ backend: null }),
    `${at}.backend: Invalid value: "": resource or service backend is required`,
  ],
  ['another object', backend({ resource: { apiGroup: 'example.com', kind: 'Bucket', name: 'b' } })],
  [
    'both backends',
    backend({ ...service, resource: { kind: 'Bucket', name: 'b' } }),
    'spec.defaultBackend: Invalid value: "": cannot set both resource and service backends',
  ],
  [
    'invalid objects',
    backend({ resource: { apiGroup: 'A', kind: 'a/b' } }),
    'spec.defaultBackend.resource.apiGroup: Invalid value: "A": a lowercase RFC 1123 subdomain',
    'spec.defaultBackend.resource.kind: Invalid value: "a/b": may not contain \'/\'',
    'spec.defaultBackend.resource.name: Required value: name is required',
  ],
  [
    'an object without a kind',
    backend({ resource: { name: '..' } }),
    'spec.defaultBackend.resource.kind: Required value: kind is required',
    'spec.defaultBackend.resource.name: Invalid value: "..": may not be \'..\'',
  ],
  [
    'a service without a port',
    backend({ service: { name: 'Web' } }),
    'spec.defaultBackend.service.name: Invalid value: "Web": a DNS-1035 label',
    'spec.defaultBackend: Required value: port name or number is required',
  ],
  [
    'no service',
    backend({ service: { name: '', port: { name: 'http' } } }),
    'spec.defaultBackend.service.name: Required value',
  ],
  [
    'a port twice',
    backend({ service: { name: 'web', port: { name: 'http', number: 80 } } }),
    'spec.defaultBackend: Invalid value: "": cannot set both port name & port number',
  ],
  [
    'an invalid port',
    backend({ service: { name: 'web', port: { number: 65536 } } }),
    'spec.defaultBackend.service.port.number: Invalid value: 65536: must be between 1 and 65535, inclusive',
  ],
  [
    'an invalid port name',
    backend({ service: { name: 'web', port: { name: 'HTTP' } } }),
    'spec.defaultBackend.service.port.name: Invalid value: "HTTP": must contain only alpha-numeric',
    'spec.defaultBackend.service.port.name: Invalid value: "HTTP": must contain at least one letter',
  ],
  ['certificates', spec({ tls: [{ hosts: ['*.web.example', 'web.example'], secretName: 'web.tls' }, {}] })],
  [
    'invalid certificates',
    spec({ tls: [{ hosts: ['*a', 'A'], secretName: 'A' }] }),
    'spec.tls[0].hosts[0]: Invalid value: "*a": a wildcard DNS-1123 subdomain',
    'spec.tls[0].hosts[1]: Invalid value: "A": a lowercase RFC 1123 subdomain',
    'spec.tls[0].secretName: Invalid value: "A": a lowercase RFC 1123 subdomain',
  ],
  [
    'an invalid class',
    spec({ ingressClassName: 'A' }),
    'spec.ingressClassName: Invalid value: "A": a lowercase RFC 1123',
  ],
  ['a class in the field and in the annotation', annotated('nginx')],
  [
    'two classes',
    annotated('other'),
    'annotations.kubernetes.io/ingress.class: Invalid value: "other": must match `ingressClassName` when both are specified',
  ],
]);

testUpdate(ingressResource, ingress, [
  [
    'all fields changed',
    merge(backend(service), spec({ ingressClassName: null, tls: [{ secretName: 'a' }] })),
  ],
  [
    'neither',
    spec({ rules: null }),
    'spec: Invalid value: []: either `defaultBackend` or `rules` must be specified',
  ],
]);

const balancer = (...places: object[]) => ({ loadBalancer: { ingress: places } });
testStatus(ingressResource, ingress, [
  ['addresses', undefined, balancer({ ip: '192.0.2.1' }, { hostname: 'lb.example' }, {})],
  [
    'invalid addresses',
    undefined,
    balancer({ ip: '192.0.2' }, { hostname: '192.0.2.1' }, { hostname: 'A' }),
    'status.loadBalancer.ingress[0].ip: Invalid value: "192.0.2": must be a valid IP address',
    'status.loadBalancer.ingress[1].hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address',
    'status.loadBalancer.ingress[2].hostname: Invalid value: "A": a lowercase RFC 1123 subdomain',
  ],
]);

test('an annotation in place of the class gives one warning', () => {
  const raw = merge(ingress, { ...annotated('nginx'), ...spec({ ingressClassName: null }) });
  assert.deepEqual(warnings(ingressResource, raw), [
    `annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`,
  ]);
  assert.deepEqual(warnings(ingressResource, raw, spec({ tls: [] })), []);
  assert.deepEqual(warnings(ingressResource, ingress), []);
});

test('the columns of an ingress', () => {
  const texts = (patch: object, status: object = {}) =>
    cells(ingressResource, Object.assign(created(ingressResource, merge(ingress, patch)), { status }), 0);
  assert.deepEqual(texts({}), {
    Name: 'web',
    Class: 'nginx',
    Hosts: 'web.example',
    Address: '',
    Ports: '80',
    Age: '<unknown>',
  });
  const other = texts(
    { spec: { ingressClassName: null, rules: null, defaultBackend: service, tls: [{}] } },
    balancer(
      { ip: '192.0.2.7', hostname: 'x' },
      { hostname: 'lb.example' },
      {},
      { ip: '192.0.2.1' },
      { ip: '192.0.2.7' },
    ),
  );
  assert.deepEqual(other, {
    Name: 'web',
    Class: '<none>',
    Hosts: '*',
    Address: '192.0.2.1,192.0.2.7,lb.example',
    Ports: '80, 443',
    Age: '<unknown>',
  });
  const hosts = (...names: string[]) =>
    texts(spec({ rules: names.map((host) => (host ? { host } : {})) })).Hosts;
  assert.equal(hosts('a', 'b', 'c'), 'a,b,c');
  assert.equal(hosts('a', 'b', 'c', 'd', 'e'), 'a,b,c + 2 more...');
  assert.equal(hosts('a', '', 'b', 'c'), 'a,b,c');
  assert.equal(hosts('a', 'b', 'c', ''), 'a,b,c + 1 more...');
  assert.equal(hosts('', ''), '*');
});

const ingressClass = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'nginx' },
  spec: { controller: 'example.com/nginx' },
};
const parameters = (fields: object) => spec({ parameters: { kind: 'Config', name: 'a', ...fields } });

testCreate(ingressClassResource, ingressClass, [
  ['no controller', { spec: null }, 'spec.controller: Required value'],
  [
    'a controller without a domain',
    spec({ controller: 'nginx' }),
    'spec.controller: Invalid value: "nginx": must be a domain-prefixed path',
  ],
  [
    'a long controller',
    spec({ controller: `example.com/${'a'.repeat(250)}` }),
    'spec.controller: Too long: may not be more than 250 bytes',
  ],
  ['parameters', parameters({ apiGroup: 'example.com' })],
  ['parameters of a namespace', parameters({ scope: 'Namespace', namespace: 'default' })],
  [
    'parameters without a namespace',
    parameters({ scope: 'Namespace' }),
    "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
  ],
  [
    'parameters with an empty namespace',
    parameters({ scope: 'Namespace', namespace: 'A' }),
    'spec.parameters.namespace: Invalid value: "A": a lowercase RFC 1123 label',
  ],
  [
    'parameters of the cluster, and of a namespace',
    parameters({ namespace: 'default' }),
    "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
  ],
  [
    'parameters of an unknown scope',
    parameters({ scope: 'World' }),
    'spec.parameters.scope: Unsupported value: "World": supported values: "Cluster", "Namespace"',
  ],
  [
    'no parameters',
    spec({ parameters: {} }),
    'spec.parameters.kind: Required value: kind is required',
    'spec.parameters.name: Required value: name is required',
  ],
]);

testUpdate(ingressClassResource, ingressClass, [
  ['the parameters', parameters({})],
  [
    'the controller',
    spec({ controller: 'example.com/other' }),
    'spec.controller: Invalid value: "example.com/other": field is immutable',
  ],
]);

test('the columns of an ingress class', () => {
  const texts = (patch: object) =>
    cells(ingressClassResource, created(ingressClassResource, merge(ingressClass, patch)), 0);
  assert.deepEqual(texts({}), {
    Name: 'nginx',
    Controller: 'example.com/nginx',
    Parameters: '<none>',
    Age: '<unknown>',
  });
  assert.equal(texts(parameters({})).Parameters, 'Config/a');
  assert.equal(texts(parameters({ apiGroup: 'example.com' })).Parameters, 'Config.example.com/a');
});
