/** The subresources of each kind, for routing and for discovery. */
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { KindBehavior } from '../kind-behavior.ts';
import type { Handler } from '../request-scope.ts';
import { getScale, patchScale, putScale } from './scale.ts';
import { getStatus, patchStatus, putStatus } from './status.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
/** GET serves HEAD too. */
export type MethodTable = Readonly<Partial<Record<Method, Handler>>>;

export interface Subresource {
  readonly methods: MethodTable;
  /** What it answers when that is not the parent's kind. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
  /** More path may follow its name. */
  readonly takesPath?: boolean;
  /** Its answers are not objects: the Accept header is for the backend, not for the API server. */
  readonly answersBytes?: boolean;
}

export type Subresources = Readonly<Record<string, Subresource>>;

/** Undefined for a name that is none. */
export function findSubresource(
  definition: ResourceDefinition,
  name: string,
  behavior: Pick<KindBehavior, 'subresourcesOf'>,
): Subresource | undefined {
  const all = subresourcesOf(definition, behavior);
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** Each of these subresources writes a part of the status. */
export const status: Subresource = { methods: { GET: getStatus, PUT: putStatus, PATCH: patchStatus } };

const scale: Subresource = {
  methods: { GET: getScale, PUT: putScale, PATCH: patchScale },
  kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
};

export function subresourcesOf(
  definition: ResourceDefinition,
  behavior: Pick<KindBehavior, 'subresourcesOf'>,
): Subresources {
  return {
    ...behavior.subresourcesOf(definition),
    ...(definition.hasStatus && { status }),
    ...(definition.scale && { scale }),
  };
}
