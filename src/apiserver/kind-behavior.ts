/**
 * Behavior of a kind beyond storage, reads and watches. The engine looks behavior up by kind and depends on
 * no kind.
 */
import type { FieldSelector } from '../apimachinery/field-selector.ts';
import type { KubeObject } from '../apimachinery/meta.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import type { AccessRequest } from './authorization/authorizer.ts';
import type { Selectors } from './reads/selection.ts';
import type { ClaimPlanner } from './registry/claim-planner.ts';
import type { UserInfo } from './request/user.ts';
import type { StoredObject } from './stored-object.ts';

/** Selects objects of one namespace, or of all namespaces if `namespace` is ''. */
export interface MeasureQuery extends Selectors {
  readonly namespace: string;
  readonly name: string | undefined;
}

/** The user of a read, and the kind of the object that was read. */
export interface ObjectRead {
  readonly user: UserInfo;
  readonly definition: ResourceDefinition;
}

/** A list or a watch of the objects of one kind. */
export interface CollectionRead {
  readonly user: UserInfo;
  readonly definition: ResourceDefinition;
  /** Undefined if it is not valid. */
  readonly fieldSelector: FieldSelector | undefined;
}

/** The fields of the objects of a kind that some users may read. */
export interface ObjectPart {
  /** Distinguishes the parts of one kind. */
  readonly name: string;
  show(object: KubeObject): KubeObject;
}

/**
 * Behavior that requests reach through the ServerContext. Subresources are separate (KindSubresources),
 * because their handlers receive the ServerContext.
 */
export interface KindBehavior {
  /** Returns the planner of a kind whose objects claim unique names; undefined for other kinds. */
  claimsOf(definition: ResourceDefinition): ClaimPlanner | undefined;
  /**
   * Returns the answer of a kind that is only created to be answered. Throws Invalid (422) and BadRequest
   * (400).
   */
  answerReview(
    definition: ResourceDefinition,
    user: UserInfo,
    namespace: string,
    review: KubeObject,
  ): Promise<KubeObject>;
  /** Returns the objects of a measured kind: the object of one name, or the selected objects. */
  measure(definition: ResourceDefinition, query: MeasureQuery): Promise<readonly KubeObject[]>;
  /**
   * Throws 403 if the user may not see this object although the request is authorized. Must not decode
   * `object` unless the kind is restricted: decoding costs more than the rest of a get.
   */
  checkRead(read: ObjectRead, found: Pick<StoredObject, 'object'>): void;
  /** Returns the part of each object that the user may read in this collection; undefined for the whole. */
  partOf(read: CollectionRead): ObjectPart | undefined;
  /**
   * Resolves when all kinds that were defined before the call are served. Called for a request whose kind is
   * not served.
   */
  untilServed(kind: { readonly group: string }, signal: AbortSignal): Promise<void>;
  /** Throws 429 if the user sends an authorized request too often. */
  limit(access: Extract<AccessRequest, { type: 'resource' }>): void;
}
