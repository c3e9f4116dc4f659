/** `ctl apply`: creates or updates objects from manifests; fields that the manifests do not have are kept. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { lastAppliedAnnotation } from '../../apimachinery/last-applied.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { readLastApplied, withLastApplied } from '../apply/last-applied.ts';
import { type MergeSchema, mergeSchemaOf, openApiPath, plainSchema } from '../apply/merge-schema.ts';
import { applyOnServer, type ServerSideOptions, serverSideManager } from '../apply/server-side.ts';
import { threeWayPatch } from '../apply/three-way.ts';
import type { Cluster } from '../connection/cluster.ts';
import { doing, inContext } from '../errors.ts';
import { type DryRun, dryRunOf, dryRunSuffix, requireManifests } from '../flags/flags.ts';
import { fieldValidationOf, validateFlag, writeFlags, writeQuery } from '../flags/write-options.ts';
import { reportInFile } from '../manifests/faults-in-file.ts';
import { kindName } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import { type ManifestTarget, manifestTargets } from '../objects/targets.ts';
import { type ObjectFormat, printedFormat } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';

/** Maximum number of times that an object is read again after a conflict with another writer. */
const maxConflicts = 5;

export const apply: Verb = {
  about: 'create or update objects from manifests',
  flags: {
    ...writeFlags,
    ...validateFlag,
    'server-side': { type: 'boolean', about: 'apply on the server instead of the client' },
    'force-conflicts': {
      type: 'boolean',
      about: 'with --server-side: take over fields of other field managers',
    },
    'field-manager': { type: 'string', hint: 'NAME', about: 'field manager that owns the fields' },
  },
  async run(context) {
    const { io, flags } = context;
    requireManifests(flags);
    const cluster = context.cluster();
    const applier = new Applier(context, cluster);
    for await (const target of manifestTargets(context, cluster, 'apply')) {
      try {
        io.out(await applier.apply(target));
      } catch (error) {
        await reportInFile(context, target, error);
      }
    }
  },
};

type Outcome = 'created' | 'configured' | 'unchanged';

class Applier {
  readonly #cluster: Cluster;
  readonly #context: VerbContext;
  readonly #dryRun: DryRun;
  readonly #format: ObjectFormat | undefined;
  readonly #query: string;
  readonly #serverSide: ServerSideOptions | undefined;
  readonly #documents = new Map<string, Promise<JsonObject | undefined>>();

  constructor(context: VerbContext, cluster: Cluster) {
    this.#context = context;
    this.#cluster = cluster;
    this.#dryRun = dryRunOf(context.flags);
    this.#format = printedFormat(context.flags);
    const { flags, io } = context;
    const validation = fieldValidationOf(flags);
    const manager = flags.text('field-manager') || undefined;
    this.#query = writeQuery(this.#dryRun, validation, manager);
    const force = flags.on('force-conflicts');
    if (!flags.on('server-side')) {
      if (force) throw new UsageError('--force-conflicts only works with --server-side');
      return;
    }
    if (this.#dryRun === 'client')
      throw new UsageError(
        "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)",
      );
    this.#serverSide = {
      manager: manager ?? serverSideManager,
      force,
      query: (name) => writeQuery(this.#dryRun, validation, name),
      warn: (text) => io.err(text),
    };
  }

  /** Applies one manifest and resolves to the text to print. */
  async apply(target: ManifestTarget): Promise<string> {
    const { resource, name, manifest } = target;
    if (!name)
      throw new Error(
        `${manifest.file}:${manifest.line}: apply needs metadata.name; use ctl create for generateName`,
      );
    const [outcome, object] = this.#serverSide
      ? (['serverside-applied', await applyOnServer(this.#cluster, target, this.#serverSide)] as const)
      : await this.#applyHere(target);
    if (this.#format) return this.#format(object);
    return `${kindName(resource)}/${name} ${outcome}${dryRunSuffix[this.#dryRun]}\n`;
  }

  async #applyHere(target: ManifestTarget): Promise<[Outcome, JsonObject]> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#applyOnce(target);
      } catch (error) {
        if (!isConflict(error) || attempt === maxConflicts) throw error;
      }
    }
  }

  async #applyOnce(target: ManifestTarget): Promise<[Outcome, JsonObject]> {
    const modified = withLastApplied(target.object);
    const current = await this.#read(target);
    if (!current) return ['created', await this.#create(target, modified)];
    this.#warn(target, current);
    const original = readLastApplied(current) ?? {};
    const strategic = await this.#schemaOf(target);
    const patch = threeWayPatch({ original, modified, current }, strategic ?? plainSchema);
    if (!patch) return ['unchanged', current];
    if (this.#dryRun === 'client') return ['configured', modified];
    const type = strategic ? patchTypes.strategic : patchTypes.merge;
    const path = targetPath(target) + this.#query;
    const result = await doing(`error when applying patch to ${where(target)}`, () =>
      this.#cluster.send('PATCH', path, patch, type),
    );
    const same = metadataOf(result).resourceVersion === metadataOf(current).resourceVersion;
    return [same && this.#dryRun === 'none' ? 'unchanged' : 'configured', result];
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
    if (this.#dryRun === 'client') return object;
    const path = collectionPath(resource, namespace) + this.#query;
    return doing(`error when creating ${where(target)}`, () => this.#cluster.send('POST', path, object));
  }

  #warn({ resource, name }: ManifestTarget, current: JsonObject): void {
    const { io } = this.#context;
    const { annotations, deletionTimestamp } = metadataOf(current);
    if (deletionTimestamp)
      io.err(`Warning: Detected changes to resource ${name} which is currently being deleted.\n`);
    if (annotations[lastAppliedAnnotation] === undefined)
      io.err(
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

const where = ({ manifest }: Pick<ManifestTarget, 'manifest'>) => `"${manifest.file}:${manifest.line}"`;
