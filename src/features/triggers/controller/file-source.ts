/** Creates FolderWatches, by which the kubelets watch the folders of triggers. */
import type { Node } from '../../../api/core/v1/node/node.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/core/v1/types.gen.ts';
import {
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
} from '../../../apimachinery/status-error.ts';
import type { Client } from '../../../client/client.ts';
import type { Informer, Lister } from '../../../client/informer.ts';
import { tolerate } from '../../../controller-runtime/tolerate.ts';
import { type FolderWatch, folderWatchResource } from '../api/folder-watch.ts';
import type { Digest } from '../api/trigger-event-draft.ts';
import { planFileWatches } from './file-plan.ts';
import type { Reading, Source, SourceReport } from './source.ts';

const watchesByTrigger = 'trigger';
export const triggerOfWatch = ({ metadata, spec }: FolderWatch) => `${metadata.namespace}/${spec.trigger}`;

export interface FileSourceOptions {
  readonly client: Client;
  readonly claims: Lister<PersistentVolumeClaim>;
  readonly volumes: Lister<PersistentVolume>;
  readonly nodes: Lister<Node>;
  readonly watches: Informer<FolderWatch>;
  readonly digest: Digest;
}

export class FileSource implements Source {
  readonly #options: FileSourceOptions;

  constructor(options: FileSourceOptions) {
    this.#options = options;
    options.watches.addIndex(watchesByTrigger, (watch) => [triggerOfWatch(watch)]);
  }

  /** Creates the required watches and deletes all others of the trigger. */
  async report({ key, trigger, position }: Reading): Promise<SourceReport> {
    const { client, claims, volumes, nodes, digest } = this.#options;
    const { file } = trigger.spec;
    if (!file) return { position };
    const claim = claims.get(`${trigger.metadata.namespace}/${file.claimName}`);
    const facts = {
      claim,
      volume: volumes.get(claim?.spec.volumeName ?? ''),
      nodes: nodes.list(),
      watches: this.#watchesOf(key),
    };
    const plan = planFileWatches(trigger, file, position, facts, digest);
    for (const watch of plan.remove) await this.#remove(watch);
    const watches = client.resource(folderWatchResource);
    for (const draft of plan.make)
      await tolerate(watches.create(draft), isAlreadyExists, isNamespaceTerminating);
    return { position, problem: plan.problem, detail: plan.detail, waits: plan.waits };
  }

  /** Deletes all watches of the trigger. */
  async stop(key: string): Promise<void> {
    for (const watch of this.#watchesOf(key)) await this.#remove(watch);
  }

  #watchesOf(key: string): readonly FolderWatch[] {
    return this.#options.watches.lister.byIndex(watchesByTrigger, key);
  }

  async #remove({ metadata: { name, namespace, uid } }: FolderWatch): Promise<void> {
    const watches = this.#options.client.resource(folderWatchResource);
    // The cache may show a watch that was replaced.
    await tolerate(watches.delete(name, namespace, { preconditions: { uid } }), isNotFound, isConflict);
  }
}
