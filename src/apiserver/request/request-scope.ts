/** One authenticated and authorized request for a resource, as every verb receives it. */

import { notSupportedCause } from '../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { newInvalid, newStatusError } from '../../apimachinery/status-error.ts';
import type { Encoder } from '../encoding/encoder.ts';
import type { Aside } from '../load/shed.ts';
import type { ServerContext, WantedUpgrade } from '../server-context.ts';
import type { Source } from '../transport/pushed-body.ts';
import type { RequestWork } from '../transport/request-work.ts';
import type { ResourceRequest } from './request-info.ts';
import type { UserInfo } from './user.ts';

export interface RequestScope {
  readonly server: ServerContext;
  /** The kind, in the version in which it is stored. */
  readonly definition: ResourceDefinition;
  /** The kind as the client addressed it: `definition`, or another version of it. */
  readonly served: ResourceDefinition;
  readonly info: ResourceRequest;
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  /** Encodes the answer in the form that the client accepts. Throws 406 if there is none. */
  readonly encoder: Encoder;
  /** Sent to the client in Warning headers; verbs add to it before they answer. */
  readonly warnings: string[];
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  readonly work: RequestWork;
  /** Undefined if the request is not counted. */
  readonly aside?: Aside | undefined;
  /** Aborts when the server stops. The signal outlives the request, so listeners must be removed. */
  readonly shutdown: AbortSignal | undefined;
  /** IP address of the client; undefined for callers in this process. */
  readonly remoteAddress: string | undefined;
  /** Closes the client's connection; undefined if the caller has no connection of its own. */
  readonly hangUp: (() => void) | undefined;
  /** See RequestEnv. */
  readonly push: ((source: Source) => void) | undefined;
  /** Present if the client requests an upgrade of this connection. */
  readonly upgrade: WantedUpgrade | undefined;
}

export type Handler = (scope: RequestScope) => Response | Promise<Response>;

/** Parses `?dryRun`, whose only value is `All`. Throws Invalid (422) for any other. */
export function parseDryRun(values: readonly string[], kind: { group: string; kind: string }): boolean {
  for (const value of values) {
    if (value === 'All' || value === '') continue;
    throw newInvalid(kind, '', [notSupportedCause('dryRun', value, ['All'])]);
  }
  return values.includes('All');
}

export const isDryRun = (
  scope: RequestScope,
  options: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions',
) => parseDryRun(scope.query.getAll('dryRun'), { group: 'meta.k8s.io', kind: options });

export const methodNotAllowed = () =>
  newStatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
