/** Objects of the Gateway API for tests. */
import type {
  BackendTlsPolicy,
  Gateway,
  GatewayClass,
  GrpcRoute,
  HttpRoute,
  Listener,
  ReferenceGrant,
} from '../../../../src/features/gateway/api/kinds.ts';
import type { GrpcRouteRule, HttpRouteRule } from '../../../../src/features/gateway/api/route-types.ts';
import { type ServingFacts, servingOf } from '../../../../src/features/gateway/api/serving.ts';

const metadata = (name: string, namespace: string, age = 0) => ({
  ...{ name, namespace, uid: `${namespace}-${name}`, resourceVersion: '1', generation: 3 },
  creationTimestamp: `2026-01-01T00:00:${String(age).padStart(2, '0')}Z`,
});

const apiVersion = 'gateway.networking.k8s.io/v1';

export const makeClass = (name = 'minik8s', controllerName = 'minik8s.io/gateway'): GatewayClass => ({
  ...{ apiVersion, kind: 'GatewayClass', metadata: metadata(name, '') },
  spec: { controllerName },
});

interface GatewayOptions {
  readonly namespace?: string;
  readonly age?: number;
  readonly spec?: Partial<Gateway['spec']>;
}

/** Creates a Gateway of the class minik8s in the namespace `infra`. */
export const makeGateway = (
  name: string,
  listeners: readonly Listener[],
  { namespace = 'infra', age, spec }: GatewayOptions = {},
): Gateway => ({
  ...{ apiVersion, kind: 'Gateway', metadata: metadata(name, namespace, age) },
  spec: { gatewayClassName: 'minik8s', listeners, ...spec },
});

/** Creates a listener for HTTP on port 80 to which routes of all namespaces may attach. */
export const listener = (name: string, more: Partial<Listener> = {}): Listener => ({
  ...{ name, port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } },
  ...more,
});

export const httpsListener = (name: string, secret: string, more: Partial<Listener> = {}): Listener =>
  listener(name, { port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: secret }] }, ...more });

interface RouteOptions {
  readonly namespace?: string;
  readonly age?: number;
  readonly hostnames?: readonly string[];
  readonly parentRefs?: HttpRoute['spec']['parentRefs'];
}

/** Creates an HTTPRoute in the namespace `shop` whose parent is the Gateway `front`. */
export const makeRoute = (
  name: string,
  rules: readonly HttpRouteRule[],
  options: RouteOptions = {},
): HttpRoute => routeOf('HTTPRoute', name, rules, options);

/** Creates a GRPCRoute in the namespace `shop` whose parent is the Gateway `front`. */
export const makeGrpcRoute = (
  name: string,
  rules: readonly GrpcRouteRule[],
  options: RouteOptions = {},
): GrpcRoute => routeOf('GRPCRoute', name, rules, options);

const routeOf = <Rule>(
  kind: string,
  name: string,
  rules: readonly Rule[],
  { namespace = 'shop', age, hostnames, parentRefs }: RouteOptions,
) => ({
  ...{ apiVersion, kind, metadata: metadata(name, namespace, age) },
  spec: {
    parentRefs: parentRefs ?? [{ name: 'front', namespace: 'infra' }],
    ...(hostnames && { hostnames }),
    rules,
  },
});

/** Returns a rule that leads paths below `path` to the Service. */
export const ruleTo = (service: string, path = '/'): HttpRouteRule => ({
  matches: [{ path: { type: 'PathPrefix', value: path } }],
  backendRefs: [{ name: service, port: 80 }],
});

interface PolicyOptions {
  readonly age?: number;
  readonly sectionName?: string;
  readonly spec?: Partial<BackendTlsPolicy['spec']>;
  readonly validation?: Partial<BackendTlsPolicy['spec']['validation']>;
}

/** Creates a policy of the namespace `shop` for the Service, with the authorities of the ConfigMap `ca`. */
export const makePolicy = (
  name: string,
  service: string,
  { age, sectionName, spec, validation }: PolicyOptions = {},
): BackendTlsPolicy => ({
  ...{ apiVersion, kind: 'BackendTLSPolicy', metadata: metadata(name, 'shop', age) },
  spec: {
    targetRefs: [{ group: '', kind: 'Service', name: service, ...(sectionName && { sectionName }) }],
    validation: {
      caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'ca' }],
      hostname: 'web.shop.test',
      ...validation,
    },
    ...spec,
  },
});

export const makeGrant = (
  namespace: string,
  from: { readonly kind: string; readonly namespace: string },
  to: { readonly group: string; readonly kind: string; readonly name?: string },
): ReferenceGrant => ({
  apiVersion: 'gateway.networking.k8s.io/v1beta1',
  kind: 'ReferenceGrant',
  metadata: metadata('grant', namespace),
  spec: { from: [{ group: 'gateway.networking.k8s.io', ...from }], to: [to] },
});

/** Decides on these objects; the namespaces `infra`, `shop` and `other` exist, labelled with their names. */
export const serve = (facts: Partial<ServingFacts>) =>
  servingOf({
    ...{ classes: [makeClass()], gateways: [], routes: [], grants: [] },
    labelsOf: (name) => (['infra', 'shop', 'other'].includes(name) ? { team: name } : undefined),
    certificateProblem: () => undefined,
    isSecuredRef: () => false,
    ...facts,
  });
