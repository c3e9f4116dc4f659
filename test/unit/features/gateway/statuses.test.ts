/** Statuses of Gateways, their classes and their routes, and the definitions of the kinds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CustomResourceDefinition } from '../../../../src/api/apiextensions/v1/custom-resource-definition.ts';
import type { Condition } from '../../../../src/apimachinery/schema.ts';
import type { HttpRoute, ParentStatus } from '../../../../src/features/gateway/api/kinds.ts';
import {
  isOwnDefinition,
  planDefinitions,
} from '../../../../src/features/gateway/controller/definition-plan.ts';
import { planClass, planGateway } from '../../../../src/features/gateway/controller/gateway-plan.ts';
import { planRoute } from '../../../../src/features/gateway/controller/route-plan.ts';
import { makeService } from '../../cluster-dns/objects.ts';
import {
  httpsListener,
  listener,
  makeClass,
  makeGateway,
  makeGrant,
  makeRoute,
  ruleTo,
  serve,
} from './objects.ts';

const now = '2026-01-02T00:00:00Z';
const shown = (conditions: readonly Condition[] | undefined) =>
  (conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`);

describe('the status of a Gateway', () => {
  const gateway = makeGateway('front', [listener('http'), httpsListener('tls', 'none')]);
  const routes = [
    makeRoute('a', [ruleTo('web')]),
    makeRoute('b', [ruleTo('none')]),
    makeRoute('c', [{ retry: {} }]),
  ];
  const certificateProblem = () => 'does not exist';
  const plan = (addresses: readonly string[], one = gateway) =>
    planGateway(one, {
      serving: serve({ gateways: [one], routes, certificateProblem }),
      ...{ addresses, notServed: 'no node serves Gateways', now },
    });

  it('has the addresses of the nodes, and counts the routes that are accepted', () => {
    const status = plan(['192.0.2.1', '192.0.2.2']);
    assert.deepEqual(status?.addresses, [
      { type: 'IPAddress', value: '192.0.2.1' },
      { type: 'IPAddress', value: '192.0.2.2' },
    ]);
    assert.deepEqual(shown(status?.conditions), ['Accepted True Accepted', 'Programmed True Programmed']);
    assert.deepEqual(
      status?.listeners?.map(({ name, attachedRoutes }) => [name, attachedRoutes]),
      [
        ['http', 2],
        ['tls', 2],
      ],
    );
    assert.deepEqual(shown(status?.listeners?.[1]?.conditions), [
      'Accepted True Accepted',
      'Conflicted False NoConflicts',
      'ResolvedRefs False InvalidCertificateRef',
      'Programmed False Invalid',
    ]);
    for (const { observedGeneration } of status?.conditions ?? []) assert.equal(observedGeneration, 3);
  });

  it('is not programmed while no node serves it', () => {
    assert.deepEqual(shown(plan([])?.conditions), [
      'Accepted True Accepted',
      'Programmed False AddressNotAssigned',
    ]);
  });

  it('is not programmed for an address that no node has', () => {
    const addresses = [{ type: 'IPAddress', value: '203.0.113.9' }];
    const one = makeGateway('front', [listener('http')], { spec: { addresses } });
    assert.deepEqual(shown(plan(['192.0.2.1'], one)?.conditions)[1], 'Programmed False AddressNotUsable');
  });

  it('is not accepted if no listener is accepted', () => {
    const one = makeGateway('front', [listener('a', { protocol: 'UDP' })]);
    assert.equal(shown(plan(['192.0.2.1'], one)?.conditions)[0], 'Accepted False ListenersNotValid');
  });

  it('is written once, and keeps its times while nothing changes', () => {
    const status = plan(['192.0.2.1']);
    assert.ok(status);
    assert.equal(plan(['192.0.2.1'], { ...gateway, status }), undefined);
    const later = planGateway(
      { ...gateway, status },
      {
        serving: serve({ gateways: [gateway] }),
        ...{ addresses: [], notServed: undefined, now: '2026-01-03T00:00:00Z' },
      },
    );
    assert.deepEqual(
      later?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime),
      [now, '2026-01-03T00:00:00Z'],
    );
  });
});

describe('the status of a GatewayClass', () => {
  it('is accepted, lists features in order, and is written once', () => {
    const status = planClass(makeClass(), now);
    assert.deepEqual(shown(status?.conditions), ['Accepted True Accepted']);
    const names = status?.supportedFeatures?.map(({ name }) => name) ?? [];
    assert.deepEqual(names, names.toSorted());
    assert.equal(status && planClass({ ...makeClass(), status }, now), undefined);
  });
});

describe('the status of an HTTPRoute', () => {
  const gateways = [makeGateway('front', [listener('http')])];
  const web = makeService('web', { clusterIP: '10.96.0.20', ports: [{ protocol: 'TCP', port: 80 }] });
  const plan = (route: HttpRoute, grants: ReturnType<typeof makeGrant>[] = []) => {
    const serving = serve({ gateways, routes: [route] });
    return planRoute(route, {
      ...{ attachments: serving.attachments, grants, now, refused: serving.refused.get(route) },
      isSecured: () => false,
      serviceOf: (namespace, name) =>
        ['shop', 'other'].includes(namespace) && name === 'web' ? web : undefined,
    });
  };
  const conditionsOf = (route: HttpRoute, grants?: ReturnType<typeof makeGrant>[]) =>
    shown(plan(route, grants)?.parents?.[0]?.conditions);
  const backend = (ref: object) => makeRoute('web', [{ backendRefs: [{ name: 'web', port: 80, ...ref }] }]);

  for (const [what, route, reason] of [
    ['that exists', backend({}), 'True ResolvedRefs'],
    ['that does not exist', backend({ name: 'none' }), 'False BackendNotFound'],
    ['without the port', backend({ port: 81 }), 'False BackendNotFound'],
    ['of another kind', backend({ kind: 'Bucket', group: 'x.test' }), 'False InvalidKind'],
    ['of another namespace', backend({ namespace: 'other' }), 'False RefNotPermitted'],
  ] as const)
    it(`with a backend ${what} has ResolvedRefs ${reason}, and is accepted`, () => {
      assert.deepEqual(conditionsOf(route), ['Accepted True Accepted', `ResolvedRefs ${reason}`]);
    });

  it('with a backend of another namespace is resolved by a ReferenceGrant', () => {
    const grant = makeGrant(
      'other',
      { kind: 'HTTPRoute', namespace: 'shop' },
      { group: '', kind: 'Service' },
    );
    assert.deepEqual(
      conditionsOf(backend({ namespace: 'other' }), [grant])[1],
      'ResolvedRefs True ResolvedRefs',
    );
  });

  it('keeps entries of other controllers, and loses its own with the parent', () => {
    const other: ParentStatus = { parentRef: { name: 'x' }, controllerName: 'other.test/c', conditions: [] };
    const route = { ...backend({}), status: { parents: [other] } };
    const status = plan(route);
    assert.deepEqual(
      status?.parents?.map(({ controllerName }) => controllerName),
      ['other.test/c', 'minik8s.io/gateway'],
    );
    assert.ok(status);
    const moved = makeRoute('web', [ruleTo('web')], { parentRefs: [{ name: 'none' }] });
    assert.deepEqual(plan({ ...moved, status })?.parents, [other]);
    assert.equal(plan({ ...route, status }), undefined);
  });
});

describe('the definitions of the Gateway API', () => {
  const all = planDefinitions([]).create as CustomResourceDefinition[];

  it('are created if they are missing, and contain no descriptions', () => {
    const names = all.map(({ metadata }) => metadata.name);
    assert.ok(names.every(isOwnDefinition));
    assert.ok(names.includes('httproutes.gateway.networking.k8s.io'), names.join());
    assert.doesNotMatch(JSON.stringify(all), /"description":"|x-kubernetes-validations/);
    assert.deepEqual(planDefinitions(all), { create: [], update: [] });
  });

  it('are updated to this version only if an earlier release created them', () => {
    const version = 'gateway.networking.k8s.io/bundle-version';
    const [first] = all;
    assert.ok(first);
    const old = { ...first, metadata: { ...first.metadata, annotations: { [version]: 'v0.1.0' } } };
    const [updated] = planDefinitions([old]).update;
    assert.equal(updated?.metadata.annotations?.[version], first.metadata.annotations?.[version]);
    const foreign = { ...old, metadata: { ...old.metadata, labels: {} } };
    assert.deepEqual(planDefinitions([foreign]).update, []);
  });
});
