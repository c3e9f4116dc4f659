/**
 * ControllerRevisions of one kind of owner: finds or creates the revision of the owner's template, and
 * deletes old ones.
 */
import {
  type ControllerRevision,
  controllerRevisionResource,
} from '../../../api/apps/v1/controller-revision.ts';
import type { PodTemplateSpec } from '../../../api/core/v1/types.gen.ts';
import { deepCopy, deepEqual, type JsonObject } from '../../../apimachinery/equality.ts';
import { controllerOf, type Draft, type KubeObject, objectKey } from '../../../apimachinery/meta.ts';
import { isAlreadyExists, isNamespaceTerminating } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import { controllerReference } from '../../../controller-runtime/claim.ts';
import type { ControllerContext } from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { OwnedObjects, type OwnerKind } from '../owned-objects.ts';
import { planRevisions, revisionData, revisionHash, revisionName } from './revisions-plan.ts';

/** An object with a template and a history of it. */
export interface Revised extends KubeObject {
  readonly spec: { readonly template: PodTemplateSpec; readonly revisionHistoryLimit: number };
  readonly status?: { readonly collisionCount?: number | undefined } | undefined;
}

export interface RevisedKind<T extends Revised>
  extends Pick<OwnerKind<T, ControllerRevision>, 'resource' | 'selectorOf'> {
  /** Label of a revision that holds its hash. */
  readonly hashLabel: string;
}

export interface History {
  readonly current: ControllerRevision;
  readonly duplicates: readonly ControllerRevision[];
  /** Revisions of other templates, the oldest first. */
  readonly old: readonly ControllerRevision[];
}

export class OwnedRevisions<T extends Revised> extends OwnedObjects<T, ControllerRevision> {
  readonly #kind: RevisedKind<T>;

  constructor(context: ControllerContext, kind: RevisedKind<T>) {
    super(context, controllerRevisionResource, { ...kind, mayAdopt: () => true });
    this.#kind = kind;
  }

  /**
   * Ensures that the owner's template is its newest revision. Resolves to 'later' if the cache does not show
   * it yet, and to 'collision' if its name is taken by another object, so that the owner's collisionCount
   * must be increased.
   */
  async bringUpToDate(
    owner: T,
    owned: readonly ControllerRevision[],
  ): Promise<History | 'later' | 'collision'> {
    const data = revisionData(owner.spec.template);
    const { current, number, duplicates, old } = planRevisions(owned, data);
    if (!current) {
      const made = await this.#create(owner, data, number);
      return typeof made === 'string' ? made : { current: made, duplicates, old };
    }
    if (current.revision === number) return { current, duplicates, old };
    const next = { ...deepCopy(current), revision: number };
    const written = await ifPresent(this.context.client.resource(controllerRevisionResource).update(next));
    if (!written) return 'later';
    this.writes.written(objectKey(owner), written, this.context.clock.now());
    return { current: written, duplicates, old };
  }

  async removeAll(owner: T, revisions: readonly ControllerRevision[]): Promise<void> {
    const { client, clock } = this.context;
    for (const revision of revisions) {
      const { name, namespace, uid } = revision.metadata;
      await ifPresent(
        client.resource(controllerRevisionResource).delete(name, namespace, { preconditions: { uid } }),
      );
      this.writes.removed(objectKey(owner), revision, clock.now());
    }
  }

  async #create(
    owner: T,
    data: JsonObject,
    revision: number,
  ): Promise<ControllerRevision | 'later' | 'collision'> {
    const { client, clock, events } = this.context;
    const { resource, hashLabel } = this.#kind;
    const hash = revisionHash(data, owner.status?.collisionCount);
    const name = revisionName(owner.metadata.name, hash);
    const draft: Draft<ControllerRevision> = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name,
        namespace: owner.metadata.namespace,
        labels: { ...owner.spec.template.metadata.labels, [hashLabel]: hash },
        annotations: owner.metadata.annotations,
        ownerReferences: [controllerReference(resource, owner)],
      },
      data,
      revision,
    };
    try {
      const made = await client.resource(controllerRevisionResource).create(deepCopy(draft));
      this.writes.written(objectKey(owner), made, clock.now());
      return made;
    } catch (error) {
      if (isAlreadyExists(error)) return this.#settleCollision(owner, name, data);
      const message = `Error creating revision: ${errorMessage(error)}`;
      if (!isNamespaceTerminating(error)) events.event(owner, 'Warning', 'FailedCreate', message);
      throw error;
    }
  }

  /**
   * Resolves a name collision. The owner's own revision that the cache did not show yet is not a collision.
   */
  async #settleCollision(owner: T, name: string, data: JsonObject): Promise<'later' | 'collision'> {
    const { client, clock, log } = this.context;
    const taken = await ifPresent(
      client.resource(controllerRevisionResource).get(name, owner.metadata.namespace),
    );
    if (taken && controllerOf(taken)?.uid === owner.metadata.uid && deepEqual(taken.data, data)) {
      this.writes.written(objectKey(owner), taken, clock.now());
      return 'later';
    }
    if (!taken) return 'later';
    log.info('the name of a revision is taken', { owner: objectKey(owner), revision: name });
    return 'collision';
  }
}
