/** Applies a manifest by a patch that the client computes, or creates the object. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { lastAppliedAnnotation } from '../../apimachinery/last-applied.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { isConflict, isNotFound, StatusError } from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';
import { collectionPath } from '../../client/resource-path.ts';
import type { Cluster } from '../connection/cluster.ts';
import { doing, inContext } from '../errors.ts';
import type { DryRun } from '../flags/flags.ts';
import { follow } from '../objects/follow.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf, recordAt } from '../objects/objects.ts';
import { isGone } from '../objects/removal.ts';
import type { ManifestTarget } from '../objects/targets.ts';
import type { VerbContext } from '../verb.ts';
import { readLastApplied, withLastApplied } from './last-applied.ts';
import { type MergeSchema, mergeSchemaOf, openApiPath, plainSchema } from './merge-schema.ts';
import { threeWayPatch } from './three-way.ts';

/** Maximum number of times that an object is read again after a conflict with another writer. */
const maxConflicts = 5;

export interface ClientSideOptions {
  readonly dryRun: DryRun;
  readonly query: string;
  /** Options of the deletion of an object that cannot be changed; undefined without --force. */
  readonly forced: JsonObject | undefined;
  readonly timeoutMs: number | undefined;
}

export interface Applied {
  readonly outcome: 'created' | 'configured' | 'unchanged' | 'serverside-applied';
  readonly object: JsonObject;
  /** UID of the object on the server; empty in a dry run that would create the object. */
  readonly uid: string;
}

export class ClientSideApply {
  readonly #io: VerbContext['io'];
  readonly #cluster: Cluster;
  readonly #options: ClientSideOptions;
  readonly #documents = new Map<string, Promise<JsonObject | undefined>>();

  constructor(io: VerbContext['io'], cluster: Cluster, options: ClientSideOptions) {
    this.#io = io;
    this.#cluster = cluster;
    this.#options = options;
  }

  async apply(target: ManifestTarget): Promise<Applied> {
    try {
      return await this.#applyRetried(target);
    } catch (error) {
      if (!this.#options.forced || !isUnchangeable(error)) throw error;
      return this.#recreate(target, this.#options.forced);
    }
  }

  async #applyRetried(target: ManifestTarget): Promise<Applied> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#applyOnce(target);
      } catch (error) {
        if (!isConflict(error) || attempt === maxConflicts) throw error;
      }
    }
  }

  async #applyOnce(target: ManifestTarget): Promise<Applied> {
    const modified = withLastApplied(target.object);
    const current = await this.#read(target);
    if (!current) {
      const object = await this.#create(target, modified);
      return { outcome: 'created', object, uid: metadataOf(object).uid };
    }
    const { uid, resourceVersion } = metadataOf(current);
    this.#warn(target, current);
    // In a dry run on the client, kubectl compares nothing and prints the server's object.
    if (this.#options.dryRun === 'client') return { outcome: 'configured', object: current, uid };
    const original = readLastApplied(current) ?? {};
    const strategic = await this.#schemaOf(target);
    const patch = threeWayPatch({ original, modified, current }, strategic ?? plainSchema);
    if (!patch) return { outcome: 'unchanged', object: current, uid };
    const type = strategic ? patchTypes.strategic : patchTypes.merge;
    const path = targetPath(target) + this.#options.query;
    const object = await doing(`error when applying patch to ${where(target)}`, () =>
      this.#cluster.send('PATCH', path, patch, type),
    );
    const same = metadataOf(object).resourceVersion === resourceVersion;
    return { outcome: same && this.#options.dryRun === 'none' ? 'unchanged' : 'configured', object, uid };
  }

  /** Deletes the object and creates it again; restores the old one if the server rejects the new one. */
  async #recreate(target: ManifestTarget, options: JsonObject): Promise<Applied> {
    const original = await this.#read(target);
    if (original) {
      const { uid } = metadataOf(original);
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...options, preconditions: { uid } };
      await this.#cluster.send('DELETE', targetPath(target), body);
      const { timeoutMs } = this.#options;
      const states = follow(this.#cluster, target, { clock: this.#io.clock, timeoutMs });
      if (!(await isGone(states, uid)))
        throw new Error(
          `timed out waiting for ${target.resource.plural}/${target.name} to be deleted: apply it again later`,
        );
    }
    try {
      const object = await this.#create(target, withLastApplied(target.object));
      return { outcome: 'configured', object, uid: metadataOf(object).uid };
    } catch (error) {
      throw original ? await this.#restored(target, original, error) : error;
    }
  }

  /** Creates the old object again; resolves to the error to report. */
  async #restored(target: ManifestTarget, original: JsonObject, cause: unknown): Promise<unknown> {
    const { resourceVersion: _, uid: __, ...metadata } = recordAt(original, 'metadata');
    try {
      await this.#create(target, { ...original, metadata });
      return inContext(cause, 'the object was restored, since the new one was rejected');
    } catch (error) {
      return inContext(cause, `the object was deleted and could not be restored (${errorMessage(error)})`);
    }
  }

  async #read(target: ManifestTarget): Promise<JsonObject | undefined> {
    try {
      return await this.#cluster.get(targetPath(target));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw inContext(error, `error when reading ${where(target)}`);
    }
  }

  async #create({ resource, namespace, ...target }: ManifestTarget, object: JsonObject): Promise<JsonObject> {
    if (this.#options.dryRun === 'client') return object;
    const path = collectionPath(resource, namespace) + this.#options.query;
    return doing(`error when creating ${where(target)}`, () => this.#cluster.send('POST', path, object));
  }

  #warn({ resource, name }: ManifestTarget, current: JsonObject): void {
    const { annotations, deletionTimestamp } = metadataOf(current);
    if (deletionTimestamp)
      this.#io.err(`Warning: Detected changes to resource ${name} which is currently being deleted.\n`);
    if (annotations[lastAppliedAnnotation] === undefined)
      this.#io.err(
        `Warning: resource ${resource.plural}/${name} is missing the ${lastAppliedAnnotation} annotation which is ` +
          'required by ctl apply: fields that the manifest no longer has stay. The missing annotation will be ' +
          'patched automatically.\n',
      );
  }

  /** Resolves to undefined for a kind without strategic merge patches. */
  async #schemaOf({ resource }: ManifestTarget): Promise<MergeSchema | undefined> {
    const path = openApiPath(resource);
    const document = this.#documents.get(path) ?? this.#document(path);
    this.#documents.set(path, document);
    const found = await document;
    return found && mergeSchemaOf(found, resource);
  }

  async #document(path: string): Promise<JsonObject | undefined> {
    try {
      return await this.#cluster.get(path);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

/** Returns true for an error after which --force deletes the object and creates it again. */
const isUnchangeable = (error: unknown): boolean =>
  isConflict(error) || (error instanceof StatusError && error.status.reason === 'Invalid');

const where = ({ manifest }: Pick<ManifestTarget, 'manifest'>) => `"${manifest.file}:${manifest.line}"`;
