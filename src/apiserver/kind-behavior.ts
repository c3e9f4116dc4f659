/** What a kind does beside being stored, read and watched. The engine asks for it by kind and knows none. */
import type { KubeObject } from '../apimachinery/meta.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import type { AccessRequest } from './authorization/authorizer.ts';
import type { ClaimPlanner } from './registry/claim-planner.ts';
import type { ResourceRequest } from './request-info.ts';
import type { RequestScope } from './request-scope.ts';
import type { Headers } from './respond.ts';
import type { Selectors } from './selection.ts';
import type { StoredObject } from './stored-object.ts';
import type { Subresources } from './subresources/subresources.ts';
import type { UserInfo } from './user.ts';

/** Those of a namespace, or of all where it is ''. */
export interface MeasureQuery extends Selectors {
  readonly namespace: string;
  readonly name: string | undefined;
}

export interface KindBehavior {
  /** Beside `/status` and `/scale`, which the definition says. */
  subresourcesOf(definition: ResourceDefinition): Subresources;
  /** Of a kind whose objects claim unique names. */
  claimsOf(definition: ResourceDefinition): ClaimPlanner | undefined;
  /** The answer to a kind that is created to be answered. Throws Invalid (422) and BadRequest (400). */
  answerReview(
    definition: ResourceDefinition,
    user: UserInfo,
    namespace: string,
    review: KubeObject,
  ): Promise<KubeObject>;
  /** The objects of a kind that is measured: that of a name, or those that are selected. */
  measure(definition: ResourceDefinition, query: MeasureQuery): Promise<readonly KubeObject[]>;
  /** Throws 403 when the user may not see this object, though such a request is allowed. Hardly ever looks at it: to read it costs more than all the rest of a get. */
  checkRead(scope: RequestScope, found: Pick<StoredObject, 'object'>): void;
  /** Throws 429 when the user asks for an allowed request too often. */
  limit(access: Extract<AccessRequest, { type: 'resource' }>): void;
  /** A request for a kind that is not served; undefined for 404. */
  answerUnknown(
    method: string,
    watch: boolean,
    info: ResourceRequest,
    headers: Headers,
  ): Response | undefined;
}
