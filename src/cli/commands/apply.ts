/** `ctl apply`: creates or updates objects from manifests; fields that the manifests do not have are kept. */
import { type JsonObject, sortKeys } from '../../apimachinery/equality.ts';
import { applyFlags, requireFittingFlags } from '../apply/apply-options.ts';
import { ApplySet } from '../apply/apply-set.ts';
import { type Applied, ClientSideApply } from '../apply/client-side.ts';
import { collectionsToPrune, prunedKinds } from '../apply/prune-plan.ts';
import { prune } from '../apply/pruner.ts';
import { applyOnServer, serverSideManager } from '../apply/server-side.ts';
import type { Cluster } from '../connection/cluster.ts';
import { dryRunOf, dryRunSuffix, type Flags } from '../flags/flags.ts';
import { fieldValidationOf, writeQuery } from '../flags/write-options.ts';
import { reportInFile } from '../manifests/faults-in-file.ts';
import { type ApiResources, kindName } from '../objects/discovery.ts';
import type { ObjectTarget } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import { propagationOf } from '../objects/removal.ts';
import { type ManifestTarget, manifestTargets } from '../objects/targets.ts';
import { madeFormat, type ObjectFormat, printedFormat } from '../printers/object-format.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { editLastApplied } from './apply-edit-last-applied.ts';
import { setLastApplied, viewLastApplied } from './apply-last-applied.ts';

export const apply: Verb = {
  about: 'create or change objects so that they match manifests',
  group: 'Advanced Commands',
  words: '-f FILE',
  flags: applyFlags,
  inner: {
    'view-last-applied': viewLastApplied,
    'set-last-applied': setLastApplied,
    'edit-last-applied': editLastApplied,
  },
  examples: [
    'ctl apply -f web.yaml # apply a file',
    'ctl apply -f manifests/ -R # apply all files of a directory and its subdirectories',
    'cat web.yaml | minik8s ctl apply -f - # apply what another program prints',
    'ctl apply -f web.yaml --dry-run=server # check it on the server without storing it',
    'ctl apply -f shop/ -R --prune -l app=shop # also delete objects that the manifests no longer contain',
    'ctl apply -f shop/ --prune --all --prune-allowlist=core/v1/ConfigMap # the same for one type',
  ],
  async run(context) {
    const { io, flags } = context;
    requireFittingFlags(flags, io.env);
    await new ApplyCommand(context).run();
  },
};

class ApplyCommand {
  readonly #context: VerbContext;
  readonly #cluster: Cluster;
  readonly #dryRun;
  readonly #format: ObjectFormat | undefined;
  readonly #applyOne: (target: ManifestTarget) => Promise<Applied>;
  /** Options of deletions. */
  readonly #deletion: JsonObject;
  readonly #timeoutMs: number | undefined;
  readonly #uids = new Set<string>();
  readonly #namespaces = new Set<string>();
  readonly #printed: JsonObject[] = [];
  #failed = false;

  constructor(context: VerbContext) {
    const { flags } = context;
    const report = (error: unknown) => {
      this.#failed = true;
      context.report(error);
    };
    this.#context = { ...context, report };
    this.#dryRun = dryRunOf(flags);
    this.#format = printedFormat(flags);
    this.#deletion = { ...propagationOf(flags), ...graceOf(flags) };
    this.#timeoutMs = flags.duration('timeout') || undefined;
    this.#cluster = context.cluster();
    this.#applyOne = flags.on('server-side') ? this.#onServer() : this.#onClient();
  }

  async run(): Promise<void> {
    const { flags } = this.#context;
    const prunes = flags.on('prune');
    // A cached list of resources may lack kinds, whose objects would not be pruned, without a message.
    const all = prunes ? await this.#cluster.resources({ fresh: true }) : [];
    const reference = flags.text('applyset');
    const set = reference ? await ApplySet.open(this.#cluster, all, reference, this.#dryRun) : undefined;
    // A wrong allowlist is an error before anything is applied.
    const kinds = prunes && !set ? prunedKinds(all, flags.texts('prune-allowlist')) : [];
    if (this.#cluster.namespaceGiven) this.#namespaces.add(this.#cluster.namespace);
    await (set ? this.#applySet(set) : this.#applyEach());
    if (this.#failed) return;
    this.#printAll();
    if (set) await this.#pruneSet(set);
    else if (prunes) await this.#pruneKinds(kinds);
  }

  /** Applies the manifests one by one, as they are read. */
  async #applyEach(): Promise<void> {
    for await (const target of manifestTargets(this.#context, this.#cluster, 'apply'))
      await this.#applyReported(target);
  }

  /**
   * Makes the parent of a set name all kinds and namespaces of the manifests, and then applies the manifests.
   */
  async #applySet(set: ApplySet): Promise<void> {
    const targets: ManifestTarget[] = [];
    for await (const target of manifestTargets(this.#context, this.#cluster, 'apply'))
      targets.push(set.member(target));
    await set.begin(targets);
    for (const target of targets) await this.#applyReported(target);
  }

  async #applyReported(target: ManifestTarget): Promise<void> {
    try {
      await this.#applyAndPrint(target);
    } catch (error) {
      await reportInFile(this.#context, target, error);
    }
  }

  async #applyAndPrint(target: ManifestTarget): Promise<void> {
    const { resource, namespace, name, manifest } = target;
    if (!name)
      throw new Error(
        `${manifest.file}:${manifest.line}: apply needs metadata.name; use minik8s ctl create for generateName`,
      );
    if (namespace) this.#namespaces.add(namespace);
    const { outcome, object, uid } = await this.#applyOne(target);
    if (uid) this.#uids.add(uid);
    if (this.#collects()) this.#printed.push(object);
    else this.#print({ resource, namespace, name }, object, outcome);
  }

  #print({ resource, name }: ObjectTarget, object: JsonObject, outcome: string): void {
    const line = `${kindName(resource)}/${name} ${outcome}${dryRunSuffix[this.#dryRun]}\n`;
    // Documents of YAML are not separated here, as in kubectl.
    this.#context.io.out(printedFormat(this.#context.flags)?.(object) ?? line);
  }

  /** Returns true for a format that prints all objects together, as one List. */
  #collects(): boolean {
    return this.#format !== undefined && this.#context.flags.text('output') !== 'name';
  }

  #printAll(): void {
    const [only, ...more] = this.#printed;
    if (!only) return;
    const { io, flags } = this.#context;
    if (more.length === 0) {
      io.out(this.#format?.(only) ?? '');
      return;
    }
    // The fields of the List are in the order of Go's type; those of its items are sorted by name.
    const items = this.#printed.map((object) => sortKeys(object) as JsonObject);
    const list = { kind: 'List', apiVersion: 'v1', metadata: {}, items };
    io.out(madeFormat(flags)?.(list) ?? '');
  }

  async #pruneKinds(kinds: ApiResources): Promise<void> {
    const labelSelector = this.#context.flags.text('selector') || undefined;
    const collections = collectionsToPrune(kinds, this.#namespaces, labelSelector);
    const rule = { labelSelector, applied: this.#uids, needsAnnotation: true };
    await prune(this.#context, collections, rule, this.#pruning());
  }

  async #pruneSet(set: ApplySet): Promise<void> {
    const { collections, gone } = set.collections();
    for (const kind of gone)
      this.#context.io.err(
        `Warning: the server has no kind ${kind} of the set: its objects are not pruned\n`,
      );
    const rule = { labelSelector: set.selector, applied: this.#uids, needsAnnotation: false };
    // After a failure the parent still names all kinds, so that the next run prunes what is left.
    if (await prune(this.#context, collections, rule, this.#pruning())) await set.end();
  }

  #pruning() {
    return {
      dryRun: this.#dryRun,
      body: this.#deletion,
      wait: this.#context.flags.on('wait'),
      timeoutMs: this.#timeoutMs,
      print: (target: ObjectTarget, object: JsonObject) => this.#print(target, object, 'pruned'),
    };
  }

  #onClient() {
    const { flags, io } = this.#context;
    const query = writeQuery(
      this.#dryRun,
      fieldValidationOf(flags),
      flags.text('field-manager') || undefined,
    );
    const client = new ClientSideApply(io, this.#cluster, {
      dryRun: this.#dryRun,
      query,
      forced: flags.on('force') ? this.#deletion : undefined,
      timeoutMs: this.#timeoutMs,
    });
    return (target: ManifestTarget) => client.apply(target);
  }

  #onServer() {
    const { flags, io } = this.#context;
    const validation = fieldValidationOf(flags);
    const options = {
      manager: flags.text('field-manager') || serverSideManager,
      force: flags.on('force-conflicts'),
      subresource: flags.text('subresource'),
      query: (name: string) => writeQuery(this.#dryRun, validation, name),
      warn: (text: string) => io.err(text),
    };
    return async (target: ManifestTarget): Promise<Applied> => {
      const object = await applyOnServer(this.#cluster, target, options);
      return { outcome: 'serverside-applied', object, uid: metadataOf(object).uid };
    };
  }
}

function graceOf(flags: Flags): JsonObject {
  const seconds = flags.whole('grace-period');
  return seconds === undefined || seconds < 0 ? {} : { gracePeriodSeconds: seconds };
}
