/** The statuses of all objects of the Gateway API that differ from what they should be. Pure. */
import type { Node } from '../../../api/core/v1/node/node.ts';
import type { Service } from '../../../api/core/v1/service/service.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { notServedProblem, servedAddresses } from '../../ingress/api/ingress-served.ts';
import { authoritiesOf, BackendTlsPolicies, namedConfigMaps } from '../api/backend-tls.ts';
import { backendRefs, isSecuredRef } from '../api/backends.ts';
import { isOwnClass } from '../api/classes.ts';
import { gatewayServedType } from '../api/gateway-served.ts';
import {
  type BackendTlsPolicy,
  backendTlsPolicyResource,
  type GatewayClass,
  gatewayClassResource,
  gatewayResource,
  grpcRouteResource,
  httpRouteResource,
  isGrpcRoute,
} from '../api/kinds.ts';
import { namedSecrets } from '../api/listeners.ts';
import { type Serving, type ServingFacts, servedAttachments, servingOf } from '../api/serving.ts';
import { planClass, planGateway } from './gateway-plan.ts';
import { gatewaysOfServices, planPolicy } from './policy-plan.ts';
import { planRoute } from './route-plan.ts';

export interface ClusterFacts extends Omit<ServingFacts, 'isSecuredRef'> {
  readonly classes: readonly GatewayClass[];
  readonly policies: readonly BackendTlsPolicy[];
  readonly nodes: readonly Node[];
  readonly serviceOf: (namespace: string, name: string) => Service | undefined;
  /** Returns why the ConfigMap, as NAMESPACE/NAME, has no usable certificates; undefined if it has. */
  readonly authoritiesProblem: (configMap: string) => string | undefined;
  /** Current time in RFC 3339. */
  readonly now: string;
}

export interface StatusWrite {
  readonly ref: ResourceRef;
  readonly object: KubeObject;
  readonly status: unknown;
}

export interface StatusPlan {
  readonly writes: readonly StatusWrite[];
  /** Other objects, as NAMESPACE/NAME, whose changes may change a status. */
  readonly named: NamedObjects;
}

export type NamedObjects = Readonly<Record<'services' | 'secrets' | 'configMaps', ReadonlySet<string>>>;

const served = { type: gatewayServedType, objects: 'Gateways' };

/** Returns what the nodes report, as a text. */
export const servedText = (nodes: readonly Node[]) =>
  [servedAddresses(nodes, gatewayServedType).join(), notServedProblem(nodes, served)?.message].join(' ');

export function planStatuses(facts: ClusterFacts): StatusPlan {
  const policies = new BackendTlsPolicies(facts.policies);
  const isSecured = (service: Service, port: number | undefined) =>
    policies.policyOf(service, port) !== undefined;
  const serving = servingOf({
    ...facts,
    isSecuredRef: (route, ref) => isSecuredRef(route, ref, { ...facts, isSecured }),
  });
  const writes = [
    ...facts.classes.filter(isOwnClass).map((object) => ({
      ...{ ref: gatewayClassResource, object },
      status: planClass(object, facts.now),
    })),
    ...gatewayWrites(serving, facts),
    ...routeWrites(serving, { ...facts, isSecured }),
    ...policyWrites(serving, policies, facts),
  ];
  return {
    writes: writes.filter(({ status }) => status !== undefined),
    named: {
      services: namedServices(facts),
      secrets: namedSecrets(serving.gateways, facts.grants),
      configMaps: namedConfigMaps(facts.policies),
    },
  };
}

const namedServices = ({ routes }: ClusterFacts) =>
  new Set(
    routes.flatMap((route) =>
      backendRefs(route).map(({ namespace = route.metadata.namespace, name }) => `${namespace}/${name}`),
    ),
  );

function gatewayWrites(serving: Serving, { nodes, now }: ClusterFacts): readonly StatusWrite[] {
  const addresses = servedAddresses(nodes, gatewayServedType);
  const notServed = notServedProblem(nodes, served)?.message;
  return serving.gateways.map((object) => ({
    ...{ ref: gatewayResource, object },
    status: planGateway(object, { serving, addresses, notServed, now }),
  }));
}

function routeWrites(
  serving: Serving,
  facts: ClusterFacts & { readonly isSecured: (service: Service, port: number | undefined) => boolean },
): readonly StatusWrite[] {
  const attachmentsOf = Map.groupBy(serving.attachments, ({ route }) => route);
  return facts.routes.map((object) => ({
    ref: isGrpcRoute(object) ? grpcRouteResource : httpRouteResource,
    object,
    status: planRoute(object, {
      ...facts,
      attachments: attachmentsOf.get(object) ?? [],
      refused: serving.refused.get(object),
    }),
  }));
}

function policyWrites(
  serving: Serving,
  policies: BackendTlsPolicies,
  facts: ClusterFacts,
): readonly StatusWrite[] {
  const gatewaysOf = gatewaysOfServices(servedAttachments(serving), facts);
  return facts.policies.map((object) => ({
    ...{ ref: backendTlsPolicyResource, object },
    status: planPolicy(object, {
      ...facts,
      ...{ policies, gatewaysOf },
      authorities: authoritiesOf(object, facts.authoritiesProblem),
    }),
  }));
}
