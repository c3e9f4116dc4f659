/** BackendTLSPolicies: which one holds for a port, which are served, their status, and the configuration. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import { gatewaySites } from '../../../../src/features/gateway/agent/plan/gateway-sites.ts';
import { authoritiesOf, BackendTlsPolicies } from '../../../../src/features/gateway/api/backend-tls.ts';
import { isSecuredRef } from '../../../../src/features/gateway/api/backends.ts';
import type { BackendTlsPolicy, Route } from '../../../../src/features/gateway/api/kinds.ts';
import { unservedReason } from '../../../../src/features/gateway/api/policy-problem.ts';
import { maxSecuredOfNamespace, servedAttachments } from '../../../../src/features/gateway/api/serving.ts';
import { planStatuses } from '../../../../src/features/gateway/controller/status-plan.ts';
import { renderNginx } from '../../../../src/web-server/render-nginx.ts';
import { makeService } from '../../cluster-dns/objects.ts';
import {
  listener,
  makeClass,
  makeGateway,
  makeGrant,
  makeGrpcRoute,
  makePolicy,
  makeRoute,
  ruleTo,
  serve,
} from './objects.ts';

const ports: Service['spec']['ports'] = [
  { name: 'web', protocol: 'TCP', port: 80 },
  { name: 'admin', protocol: 'TCP', port: 81 },
];
const services: Readonly<Record<string, Service>> = {
  web: makeService('web', { clusterIP: '10.96.0.20', ports }),
  api: makeService('api', { clusterIP: '10.96.0.21', ports }),
  // The same address as that of `web`.
  copy: makeService('copy', { clusterIP: '10.96.0.20', ports }),
  secure: makeService('secure', {
    clusterIP: '10.96.0.22',
    ports: [{ protocol: 'TCP', port: 80, appProtocol: 'https' }],
  }),
};
const serviceOf = (namespace: string, name: string) => (namespace === 'shop' ? services[name] : undefined);
const front = makeGateway('front', [listener('http')]);
const [web = makeService('web', {})] = [services.web];

describe('the BackendTLSPolicy of a port', () => {
  const nameOf = (policies: readonly BackendTlsPolicy[], port = 80) =>
    new BackendTlsPolicies(policies).policyOf(web, port)?.metadata.name;

  it('is the oldest one, and of two of one second the first by name', () => {
    assert.equal(nameOf([makePolicy('a', 'web', { age: 2 }), makePolicy('b', 'web', { age: 1 })]), 'b');
    assert.equal(nameOf([makePolicy('b', 'web'), makePolicy('a', 'web')]), 'a');
  });

  it('is the one that names the port before an older one for the whole Service', () => {
    const policies = [
      makePolicy('whole', 'web'),
      makePolicy('port', 'web', { age: 5, sectionName: 'admin' }),
    ];
    assert.equal(nameOf(policies, 81), 'port');
    assert.equal(nameOf(policies, 80), 'whole');
  });

  it('never has a target of another Service, namespace or kind', () => {
    const elsewhere = makePolicy('c', 'web');
    const policies = [
      makePolicy('a', 'api'),
      { ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'other' } },
      makePolicy('d', 'web', { spec: { targetRefs: [{ group: 'x.test', kind: 'Service', name: 'web' }] } }),
      makePolicy('e', 'web', { sectionName: 'missing' }),
    ];
    assert.equal(nameOf(policies), undefined);
  });
});

describe('the reason why a BackendTLSPolicy is not served', () => {
  const reasonOf = (policy: BackendTlsPolicy) => {
    const authorities = authoritiesOf(policy, (key) => (key === 'shop/ca' ? undefined : 'does not exist'));
    const problem = unservedReason(policy, authorities);
    return problem && `${problem.reason}: ${problem.message}`;
  };
  const ca = { group: '', kind: 'ConfigMap', name: 'ca' };
  const withNames = (...subjectAltNames: { type: string; hostname?: string; uri?: string }[]) => ({
    subjectAltNames,
  });

  it('is absent with authorities that can be read, and with those of the system', () => {
    const validations = [
      {},
      { caCertificateRefs: [{ ...ca, name: 'none' }, ca] },
      { caCertificateRefs: [], wellKnownCACertificates: 'System' },
      withNames({ type: 'Hostname', hostname: 'WEB.shop.test' }),
    ];
    for (const validation of validations)
      assert.equal(reasonOf(makePolicy('a', 'web', { validation })), undefined);
  });

  for (const [what, validation, pattern] of [
    [
      'no usable authority',
      { caCertificateRefs: [{ ...ca, name: 'none' }] },
      /^NoValidCA.*none does not exist/,
    ],
    [
      'authorities of another kind',
      { caCertificateRefs: [{ ...ca, kind: 'Secret' }] },
      /Secret is not a Conf/,
    ],
    ['no authorities', { caCertificateRefs: [] }, /^Invalid: spec\.validation: it needs/],
    ['two sources of authorities', { wellKnownCACertificates: 'System' }, /exclude each other/],
    [
      'unknown authorities',
      { caCertificateRefs: [], wellKnownCACertificates: 'x.test/y' },
      /x\.test\/y is not/,
    ],
    ['a host name with a star', { hostname: '*.shop.test' }, /^Invalid: .*hostname: "\*\.shop\.test" is not/],
    ['a host name that is a directive', { hostname: 'a; return 200' }, /is not a host name/],
    ['a URI', withNames({ type: 'URI', uri: 'spiffe://a/b' }), /subjectAltNames\[0\]: only the Hostname web/],
    ['another name', withNames({ type: 'Hostname', hostname: 'b.test' }), /subjectAltNames\[0\]: only the/],
  ] as const)
    it(`names the field with ${what}`, () => {
      assert.match(reasonOf(makePolicy('a', 'web', { validation })) ?? 'served', pattern);
    });

  it('names an option, because it could ask for more than is done', () => {
    const policy = makePolicy('a', 'web', { spec: { options: { 'x.test/min': '1.3' } } });
    assert.equal(reasonOf(policy), 'Invalid: spec.options: x.test/min is not supported');
  });
});

function sitesOf(routes: readonly Route[], policies: readonly BackendTlsPolicy[], isUsable = true) {
  const index = new BackendTlsPolicies(policies);
  const facts = {
    ...{ grants: [], serviceOf },
    isSecured: (service: Service, port: number | undefined) => index.policyOf(service, port) !== undefined,
  };
  const serving = serve({
    ...{ gateways: [front], routes },
    isSecuredRef: (route, ref) => isSecuredRef(route, ref, facts),
  });
  assert.deepEqual([...serving.refused.values()], []);
  return gatewaySites({
    ...facts,
    listeners: serving.listeners,
    attachments: servedAttachments(serving),
    certificateOf: () => undefined,
    slicesOf: () => [],
    tlsOf: (service, port) => {
      const policy = index.policyOf(service, port);
      if (!policy) return undefined;
      const name = policy.spec.validation.hostname;
      return isUsable ? { name, authorities: 'ca-1.pem' } : { message: 'no authority' };
    },
  });
}

const configOf = (...args: Parameters<typeof sitesOf>) =>
  renderNginx(sitesOf(...args), {
    ...{ httpPort: 80, directory: '/minik8s', temporary: '/tmp', generation: 'g' },
  });
const passes = (config: string) => [...config.matchAll(/(?:proxy|grpc)_pass (\w+):/g)].map(([, it]) => it);

describe('the configuration for backends with a BackendTLSPolicy', () => {
  const mirrored = makeRoute('web', [
    {
      filters: [{ type: 'RequestMirror', requestMirror: { backendRef: { name: 'web', port: 80 } } }],
      backendRefs: [{ name: 'web', port: 80 }],
    },
  ]);

  it('checks the certificate and the name before a request or its copy is sent', () => {
    const config = configOf([mirrored], [makePolicy('a', 'web')]);
    assert.deepEqual(passes(config), ['https', 'https']);
    for (const line of [
      'proxy_ssl_trusted_certificate "/minik8s/ca-1.pem";',
      'proxy_ssl_verify on;',
      'proxy_ssl_name "web.shop.test";',
      'proxy_ssl_server_name on;',
    ])
      assert.equal(config.split(line).length, 3, line);
  });

  it('checks the certificate before a call of gRPC, also of a port whose appProtocol is https', () => {
    const route = makeGrpcRoute('web', [{ backendRefs: [{ name: 'secure', port: 80 }] }]);
    assert.deepEqual(passes(configOf([route], [])), []);
    const config = configOf([route], [makePolicy('a', 'secure')]);
    assert.deepEqual(passes(config), ['grpcs']);
    for (const line of ['grpc_ssl_verify on;', 'grpc_ssl_name "web.shop.test";', 'grpc_ssl_server_name on;'])
      assert.ok(config.includes(line), line);
  });

  it('passes nothing on while the policy cannot be served', () => {
    const grpc = makeGrpcRoute('calls', [{ backendRefs: [{ name: 'web', port: 80 }] }], {
      hostnames: ['grpc.test'],
    });
    const http = { ...mirrored, spec: { ...mirrored.spec, hostnames: ['http.test'] } };
    const config = configOf([http, grpc], [makePolicy('a', 'web')], false);
    assert.deepEqual(passes(config), []);
    assert.match(config, /return 500 /);
    assert.match(config, /return 503 "no backend of this route/);
  });

  it('shares no group of backends, and with it no session of TLS, between two names', () => {
    const policies = [makePolicy('a', 'web', { validation: { hostname: 'a.test' } })];
    policies.push(makePolicy('b', 'copy', { validation: { hostname: 'b.test' } }));
    const config = configOf([makeRoute('web', [ruleTo('web', '/a'), ruleTo('copy', '/b')])], policies);
    assert.equal(new Set([...config.matchAll(/proxy_pass https:\/\/(\w+)/g)].map(([, it]) => it)).size, 2);
  });

  it('leaves backends without a policy as they are', () => {
    assert.deepEqual(passes(configOf([makeRoute('web', [ruleTo('web')])], [makePolicy('a', 'api')])), [
      'http',
    ]);
  });
});

it('routes of a namespace with too many backends with TLS are not accepted beyond the limit, the oldest are', () => {
  const matches = Array.from({ length: 50 }, (_, index) => ({ path: { value: `/${index}` } }));
  const rule = { matches, backendRefs: [{ name: 'web', port: 80 }] };
  const routes = [makeRoute('old', [rule], { age: 1 }), makeRoute('new', [rule, rule], { age: 2 })];
  const refusals = (isSecured: boolean) =>
    [...serve({ gateways: [front], routes, isSecuredRef: () => isSecured }).refused].map(
      ([{ metadata }, { reason }]) => `${metadata.name} ${reason}`,
    );
  assert.equal(maxSecuredOfNamespace, 100);
  assert.deepEqual(refusals(true), ['new TooManyMatches']);
  assert.deepEqual(refusals(false), []);
});

describe('the status of a BackendTLSPolicy', () => {
  const now = '2026-01-02T00:00:00Z';
  const plan = (
    policies: readonly BackendTlsPolicy[],
    routes: readonly Route[] = [makeRoute('web', [ruleTo('web')])],
    grants: ReturnType<typeof makeGrant>[] = [],
  ) =>
    planStatuses({
      ...{ classes: [makeClass()], gateways: [front], routes, policies, grants, nodes: [], now, serviceOf },
      labelsOf: (name) => ({ team: name }),
      certificateProblem: () => undefined,
      authoritiesProblem: (key) => (key === 'shop/ca' ? undefined : 'does not exist'),
    });
  const statusOf = (name: string, ...args: Parameters<typeof plan>) =>
    plan(...args).writes.find(
      ({ object }) => object.metadata.name === name && 'targetRefs' in (object as BackendTlsPolicy).spec,
    )?.status as BackendTlsPolicy['status'];
  const shown = (name: string, ...args: Parameters<typeof plan>) =>
    statusOf(name, ...args)?.ancestors?.flatMap(({ ancestorRef, conditions }) =>
      conditions.map(({ type, status, reason }) => `${ancestorRef.name} ${type} ${status} ${reason}`),
    );

  for (const [what, policy, accepted, resolved] of [
    ['that is served', makePolicy('a', 'web'), 'True Accepted', 'True ResolvedRefs'],
    [
      'with a ConfigMap that does not exist',
      makePolicy('a', 'web', { validation: { caCertificateRefs: [{ kind: 'ConfigMap', name: 'no' }] } }),
      'False NoValidCACertificate',
      'False InvalidCACertificateRef',
    ],
    [
      'with a CA of another kind',
      makePolicy('a', 'web', { validation: { caCertificateRefs: [{ group: 'x', kind: 'Y', name: 'no' }] } }),
      'False NoValidCACertificate',
      'False InvalidKind',
    ],
    [
      'for a port that does not exist',
      makePolicy('a', 'web', { sectionName: 'none' }),
      'False TargetNotFound',
      'True ResolvedRefs',
    ],
    [
      'with a URI',
      makePolicy('a', 'web', { validation: { subjectAltNames: [{ type: 'URI', uri: 'a:b' }] } }),
      'False Invalid',
      'True ResolvedRefs',
    ],
  ] as const)
    it(`${what} is Accepted ${accepted}, ResolvedRefs ${resolved}`, () => {
      assert.deepEqual(shown('a', [policy]), [
        `front Accepted ${accepted}`,
        `front ResolvedRefs ${resolved}`,
      ]);
    });

  it('is Conflicted for the younger of two policies with one target, and names the older one', () => {
    const policies = [makePolicy('old', 'web', { age: 1 }), makePolicy('new', 'web', { age: 2 })];
    assert.equal(shown('old', policies)?.[0], 'front Accepted True Accepted');
    assert.equal(shown('new', policies)?.[0], 'front Accepted False Conflicted');
    assert.match(
      statusOf('new', policies)?.ancestors?.[0]?.conditions[0]?.message ?? '',
      /^Service web has the older BackendTLSPolicy old, /,
    );
  });

  it('accepts two policies of one Service if one of them names a port', () => {
    const policies = [makePolicy('whole', 'web'), makePolicy('port', 'web', { sectionName: 'web' })];
    for (const name of ['whole', 'port'])
      assert.equal(shown(name, policies)?.[0], 'front Accepted True Accepted');
  });

  it('has no Gateway whose routes may not use the Service, until a ReferenceGrant allows it', () => {
    const rule = { backendRefs: [{ name: 'web', namespace: 'shop', port: 80 }] };
    const routes = [makeRoute('away', [rule], { namespace: 'other' })];
    const grant = makeGrant(
      'shop',
      { kind: 'HTTPRoute', namespace: 'other' },
      { group: '', kind: 'Service' },
    );
    assert.equal(shown('a', [makePolicy('a', 'web')], routes), undefined);
    assert.equal(shown('a', [makePolicy('a', 'web')], routes, [grant])?.length, 2);
  });

  it('is written once, keeps entries of other controllers, and has at most 16 entries', () => {
    const other = (index: number) => ({
      ancestorRef: { name: `g${index}` },
      controllerName: 'x.test/y',
      conditions: [],
    });
    const withStatus = (status: BackendTlsPolicy['status']): BackendTlsPolicy => ({
      ...makePolicy('a', 'web'),
      ...(status && { status }),
    });
    const first = statusOf('a', [withStatus({ ancestors: [other(0)] })]);
    assert.deepEqual(
      first?.ancestors?.map(({ ancestorRef }) => ancestorRef.name),
      ['g0', 'front'],
    );
    assert.equal(statusOf('a', [withStatus(first)]), undefined);
    const full = { ancestors: Array.from({ length: 16 }, (_, index) => other(index)) };
    assert.equal(statusOf('a', [withStatus(full)]), undefined);
    assert.deepEqual(statusOf('a', [withStatus(first)], [])?.ancestors, [other(0)]);
  });

  it('depends on the ConfigMaps that the policies name', () => {
    assert.deepEqual([...plan([makePolicy('a', 'web')]).named.configMaps], ['shop/ca']);
  });
});
