/** The rules of HTTPRoutes and GRPCRoutes. Pure. */
import type { ObjectReference } from './references.ts';

export interface HttpRouteRule {
  readonly name?: string;
  readonly matches?: readonly HttpRouteMatch[];
  readonly filters?: readonly HttpRouteFilter[];
  readonly backendRefs?: readonly HttpBackendRef[];
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
  readonly retry?: object;
  readonly sessionPersistence?: object;
}

export interface HttpRouteMatch {
  readonly path?: { readonly type?: string; readonly value?: string };
  readonly headers?: readonly NamedMatch[];
  readonly queryParams?: readonly NamedMatch[];
  readonly method?: string;
}

export interface GrpcRouteRule {
  readonly name?: string;
  readonly matches?: readonly GrpcRouteMatch[];
  readonly filters?: readonly HttpRouteFilter[];
  readonly backendRefs?: readonly HttpBackendRef[];
  readonly sessionPersistence?: object;
}

export interface GrpcRouteMatch {
  readonly method?: { readonly type?: string; readonly service?: string; readonly method?: string };
  readonly headers?: readonly NamedMatch[];
}

export interface NamedMatch {
  readonly type?: string;
  readonly name: string;
  readonly value: string;
}

export interface HeaderFilter {
  readonly set?: readonly { readonly name: string; readonly value: string }[];
  readonly add?: readonly { readonly name: string; readonly value: string }[];
  readonly remove?: readonly string[];
}

export interface PathModifier {
  readonly type: string;
  readonly replaceFullPath?: string;
  readonly replacePrefixMatch?: string;
}

export interface CorsFilter {
  readonly allowOrigins?: readonly string[];
  readonly allowMethods?: readonly string[];
  readonly allowHeaders?: readonly string[];
  readonly exposeHeaders?: readonly string[];
  readonly allowCredentials?: boolean;
  readonly maxAge?: number;
}

export interface HttpRouteFilter {
  readonly type: string;
  readonly requestHeaderModifier?: HeaderFilter;
  readonly responseHeaderModifier?: HeaderFilter;
  readonly requestMirror?: {
    readonly backendRef: BackendObjectReference;
    readonly percent?: number;
    readonly fraction?: { readonly numerator: number; readonly denominator?: number };
  };
  readonly requestRedirect?: {
    readonly scheme?: string;
    readonly hostname?: string;
    readonly path?: PathModifier;
    readonly port?: number;
    readonly statusCode?: number;
  };
  readonly urlRewrite?: { readonly hostname?: string; readonly path?: PathModifier };
  readonly cors?: CorsFilter;
}

export interface BackendObjectReference extends ObjectReference {
  readonly port?: number;
}

export interface HttpBackendRef extends BackendObjectReference {
  readonly weight?: number;
  readonly filters?: readonly HttpRouteFilter[];
}
