/** The kinds of the Gateway API as clients address them, and their fields as far as they are read. Pure. */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import type { Condition, LabelSelector } from '../../../apimachinery/schema.ts';
import type { ObjectReference, ParentReference } from './references.ts';
import type { GrpcRouteRule, HttpRouteRule } from './route-types.ts';

export const gatewayGroup = 'gateway.networking.k8s.io';

export interface GatewayClass extends KubeObject {
  readonly spec: { readonly controllerName: string; readonly parametersRef?: object };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly supportedFeatures?: readonly { readonly name: string }[];
  };
}

export interface Gateway extends KubeObject {
  readonly spec: {
    readonly gatewayClassName: string;
    readonly listeners?: readonly Listener[];
    readonly addresses?: readonly { readonly type?: string; readonly value?: string }[];
    readonly tls?: { readonly frontend?: object; readonly backend?: object };
  };
  readonly status?: GatewayStatus;
}

export interface GatewayStatus {
  readonly addresses?: readonly { readonly type: string; readonly value: string }[];
  readonly conditions?: readonly Condition[];
  readonly listeners?: readonly ListenerStatus[];
}

export interface ListenerStatus {
  readonly name: string;
  readonly supportedKinds: readonly RouteKind[];
  readonly attachedRoutes: number;
  readonly conditions: readonly Condition[];
}

export interface RouteKind {
  readonly group?: string;
  readonly kind: string;
}

export interface Listener {
  readonly name: string;
  readonly hostname?: string;
  readonly port: number;
  readonly protocol: string;
  readonly tls?: { readonly mode?: string; readonly certificateRefs?: readonly ObjectReference[] };
  readonly allowedRoutes?: {
    readonly namespaces?: { readonly from?: string; readonly selector?: LabelSelector };
    readonly kinds?: readonly RouteKind[];
  };
}

interface RouteOf<Rule> extends KubeObject {
  readonly spec: {
    readonly parentRefs?: readonly ParentReference[];
    readonly hostnames?: readonly string[];
    readonly rules?: readonly Rule[];
  };
  readonly status?: RouteStatus;
}

export interface RouteStatus {
  readonly parents?: readonly ParentStatus[];
}

export type HttpRoute = RouteOf<HttpRouteRule>;
export type GrpcRoute = RouteOf<GrpcRouteRule>;
/** Either of them; the field `kind` distinguishes them. */
export type Route = HttpRoute | GrpcRoute;

export const isGrpcRoute = (route: Route): route is GrpcRoute => route.kind === grpcRouteKind;

export const httpRouteKind = 'HTTPRoute';
export const grpcRouteKind = 'GRPCRoute';

export interface ParentStatus {
  readonly parentRef: ParentReference;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

/** How Gateways connect to Services: by TLS, with these checks of the servers' certificates. */
export interface BackendTlsPolicy extends KubeObject {
  readonly spec: {
    readonly targetRefs?: readonly PolicyTarget[];
    readonly validation: {
      readonly caCertificateRefs?: readonly ObjectReference[];
      readonly wellKnownCACertificates?: string;
      readonly hostname: string;
      readonly subjectAltNames?: readonly {
        readonly type: string;
        readonly hostname?: string;
        readonly uri?: string;
      }[];
    };
    readonly options?: Readonly<Record<string, string>>;
  };
  readonly status?: PolicyStatus;
}

/** `sectionName` is the name of a port; without it the whole Service is meant. */
export interface PolicyTarget extends ObjectReference {
  readonly sectionName?: string;
}

export interface PolicyStatus {
  readonly ancestors?: readonly {
    readonly ancestorRef: ParentReference;
    readonly controllerName: string;
    readonly conditions: readonly Condition[];
  }[];
}

export interface ReferenceGrant extends KubeObject {
  readonly spec: {
    readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
    readonly to: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
  };
}

const ref = (version: string, kind: string, plural: string, namespaced: boolean) => ({
  group: gatewayGroup,
  ...{ version, kind, plural, namespaced },
});

export const gatewayClassResource: ResourceRef<GatewayClass> = ref(
  'v1',
  'GatewayClass',
  'gatewayclasses',
  false,
);
export const gatewayResource: ResourceRef<Gateway> = ref('v1', 'Gateway', 'gateways', true);
export const httpRouteResource: ResourceRef<HttpRoute> = ref('v1', httpRouteKind, 'httproutes', true);
export const grpcRouteResource: ResourceRef<GrpcRoute> = ref('v1', grpcRouteKind, 'grpcroutes', true);
export const backendTlsPolicyResource: ResourceRef<BackendTlsPolicy> = ref(
  'v1',
  'BackendTLSPolicy',
  'backendtlspolicies',
  true,
);
/** The version that every release of the definitions serves. */
export const referenceGrantResource: ResourceRef<ReferenceGrant> = ref(
  'v1beta1',
  'ReferenceGrant',
  'referencegrants',
  true,
);
