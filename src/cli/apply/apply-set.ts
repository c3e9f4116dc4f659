/** The parent of an apply set on the server: read and checked first, updated before and after the members. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import { doing } from '../errors.ts';
import type { DryRun } from '../flags/flags.ts';
import { writeQuery } from '../flags/write-options.ts';
import { type ApiResources, findResource } from '../objects/discovery.ts';
import { listPath, targetPath } from '../objects/object-target.ts';
import { metadataOf, recordsAt } from '../objects/objects.ts';
import type { ManifestTarget } from '../objects/targets.ts';
import {
  type ApplySetParent,
  applySetManager,
  asMember,
  type Contents,
  contentsOf,
  groupKind,
  isUsualParent,
  memberSelector,
  nothingApplied,
  parentManifest,
  parentOf,
  parentTypeLabel,
  servedKinds,
  superset,
} from './apply-set-plan.ts';
import { collectionsToPrune } from './prune-plan.ts';

export class ApplySet {
  readonly #cluster: Cluster;
  readonly #all: ApiResources;
  readonly #parent: ApplySetParent;
  readonly #dryRun: DryRun;
  #before: Contents = nothingApplied;
  #now: Contents = nothingApplied;

  private constructor(cluster: Cluster, all: ApiResources, parent: ApplySetParent, dryRun: DryRun) {
    this.#cluster = cluster;
    this.#all = all;
    this.#parent = parent;
    this.#dryRun = dryRun;
  }

  /** Resolves to the set of `--applyset`; rejects if objects of the kind may not be parents. */
  static async open(
    cluster: Cluster,
    all: ApiResources,
    reference: string,
    dryRun: DryRun,
  ): Promise<ApplySet> {
    const namespace = cluster.namespaceGiven ? cluster.namespace : undefined;
    const parent = parentOf(all, reference, namespace);
    if (!isUsualParent(parent.resource)) await requireParentType(cluster, all, parent);
    return new ApplySet(cluster, all, parent, dryRun);
  }

  /** Returns the target with the label of the set. */
  member(target: ManifestTarget): ManifestTarget {
    return { ...target, object: asMember(target.object, this.#parent) };
  }

  /**
   * Makes the parent name every kind and namespace that this command may change, so that the next command
   * finds all members even after an interrupt.
   */
  async begin(targets: readonly ManifestTarget[]): Promise<void> {
    this.#before = await this.#read();
    this.#now = {
      kinds: new Set(targets.map(({ resource }) => groupKind(resource))),
      namespaces: new Set(targets.flatMap(({ namespace }) => namespace || [])),
    };
    await this.#write(superset(this.#before, this.#now));
  }

  /** Returns the collections that may have members to prune, and kinds that are not served. */
  collections() {
    const { served, gone } = servedKinds(this.#before, this.#all);
    return { collections: collectionsToPrune(served, this.#before.namespaces, this.selector), gone };
  }

  get selector(): string {
    return memberSelector(this.#parent);
  }

  /**
   * Makes the parent name only what this command applied, and the kinds whose members could not be listed.
   */
  async end(): Promise<void> {
    const { gone } = servedKinds(this.#before, this.#all);
    const kept: Contents =
      gone.length > 0 ? { kinds: new Set(gone), namespaces: this.#before.namespaces } : nothingApplied;
    await doing('apply and prune succeeded, but ApplySet update failed', () =>
      this.#write(superset(this.#now, kept)),
    );
  }

  async #read(): Promise<Contents> {
    try {
      const object = await this.#cluster.get(targetPath(this.#parent));
      return contentsOf(object, this.#parent, this.#all);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (!isUsualParent(this.#parent.resource))
        throw new Error('custom resource ApplySet parents cannot be created automatically: create it first');
      return nothingApplied;
    }
  }

  /** Applies the parent on the server; after a conflict, takes over the fields of other managers. */
  async #write(contents: Contents): Promise<void> {
    if (this.#dryRun === 'client') return;
    const manifest = parentManifest(this.#parent, contents);
    try {
      await this.#send(manifest, false);
    } catch (error) {
      if (!isConflict(error)) throw error;
      await this.#send(manifest, true);
    }
  }

  async #send(manifest: JsonObject, force: boolean): Promise<void> {
    const query = `${writeQuery(this.#dryRun, undefined, applySetManager)}&force=${force}`;
    await doing('failed to update ApplySet', () =>
      this.#cluster.send('PATCH', targetPath(this.#parent) + query, manifest, patchTypes.apply),
    );
  }
}

async function requireParentType(
  cluster: Cluster,
  all: ApiResources,
  { resource }: ApplySetParent,
): Promise<void> {
  const definitions = findResource(all, 'customresourcedefinitions.apiextensions.k8s.io');
  const list = await cluster.get(
    listPath({
      resource: definitions,
      namespace: '',
      labelSelector: parentTypeLabel,
      fieldSelector: undefined,
    }),
  );
  const name = `${resource.plural}.${resource.group}`;
  if (!recordsAt(list, 'items').some((item) => metadataOf(item).name === name))
    throw new UsageError(
      `resource ${JSON.stringify(name)} is not permitted as an ApplySet parent: its definition needs the label ${parentTypeLabel}`,
    );
}
