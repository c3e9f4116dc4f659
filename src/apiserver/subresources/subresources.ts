/** Subresources of each kind, for routing and for discovery. */
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { Handler } from '../request/request-scope.ts';
import { getScale, patchScale, putScale } from './scale.ts';
import { getStatus, patchStatus, putStatus } from './status.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
/** GET serves HEAD too. */
export type MethodTable = Readonly<Partial<Record<Method, Handler>>>;

/**
 * Sort of a request whose answer may last until its client ends it, or until a program has ended:
 * - `stream`: bytes to and from a pod or a node (exec, attach, port-forward, proxy).
 * - `log`: an answer that may be followed.
 * - `call`: a call of a program. Every method counts as `create` for authorization, because the program
 *   interprets the method, and the call belongs to the trace of its caller.
 */
export type LongRunning = 'stream' | 'log' | 'call';

export interface Subresource {
  readonly methods: MethodTable;
  /** Absent for requests that the API server answers by itself, and soon. */
  readonly longRunning?: LongRunning;
  /** Kind of the answer, if it is not the kind of the parent. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  /** True if a path may follow the name of the subresource. */
  readonly takesPath?: boolean;
  /**
   * True if the answers are bytes instead of objects: the Accept header is for the backend, not for the API
   * server.
   */
  readonly answersBytes?: boolean;
}

export type Subresources = Readonly<Record<string, Subresource>>;

/** Subresources that a server of certain kinds adds to the engine. */
export interface KindSubresources {
  /** Returns the subresources besides `/status` and `/scale`, which the definition declares. */
  subresourcesOf(definition: ResourceDefinition): Subresources;
}

/** Returns the subresource; undefined for an unknown name. */
export function findSubresource(
  definition: ResourceDefinition,
  name: string,
  added: KindSubresources,
): Subresource | undefined {
  const all = subresourcesOf(definition, added);
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** Subresource that writes a part of the status. */
export const status: Subresource = { methods: { GET: getStatus, PUT: putStatus, PATCH: patchStatus } };

const scale: Subresource = {
  methods: { GET: getScale, PUT: putScale, PATCH: patchScale },
  kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
};

export function subresourcesOf(definition: ResourceDefinition, added: KindSubresources): Subresources {
  return {
    ...added.subresourcesOf(definition),
    ...(definition.hasStatus && { status }),
    ...(definition.scale && { scale }),
  };
}
