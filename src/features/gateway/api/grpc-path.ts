/** Methods of gRPC as paths: a call of METHOD of SERVICE is a request to `/SERVICE/METHOD`. Pure. */
import type { GrpcRouteMatch } from './route-types.ts';

export interface GrpcPath {
  /** Prefix: the path and everything below it. Regex: a pattern for the whole path. */
  readonly type: 'Exact' | 'Prefix' | 'Regex';
  readonly path: string;
}

/** Stands for a service or a method that the match leaves open. */
const any = '[^/]+';

/** Returns the paths of the methods that the match selects. Its names and expressions are valid. */
export function grpcPath({ method: wanted = {} }: GrpcRouteMatch): GrpcPath {
  const { type = 'Exact', service, method } = wanted;
  if (!service && !method) return { type: 'Prefix', path: '/' };
  const part = (value: string | undefined) => (value ? `(?:${value})` : any);
  if (type === 'RegularExpression') return { type: 'Regex', path: `/${part(service)}/${part(method)}` };
  if (!service) return { type: 'Regex', path: `/${any}/${method}` };
  return method ? { type: 'Exact', path: `/${service}/${method}` } : { type: 'Prefix', path: `/${service}` };
}
