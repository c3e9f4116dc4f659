/** The jobs of one connection, as stored in the cluster: the store that src/slurm works on. */
import { createHash } from 'node:crypto';
import { type ConfigMap, configMapResource } from '../../api/core/v1/config-map.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { isAlreadyExists, isNotFound } from '../../apimachinery/status-error.ts';
import type { Client } from '../../client/client.ts';
import type { Informer } from '../../client/informer.ts';
import { maxSlurmChunk, type SlurmFile, slurmFileResource } from '../../features/slurm/api/slurm-file.ts';
import {
  type SlurmJob as StoredJob,
  slurmFinalizer,
  slurmJobEnded,
  slurmJobResource,
} from '../../features/slurm/api/slurm-job.ts';
import {
  type FileName,
  type JobStore,
  MissingSource,
  type SourceFile,
  type StoredFile,
} from '../../features/slurm/client/job-store.ts';
import type { SlurmJob, SlurmJobStatus } from '../../features/slurm/client/slurm-job.ts';

export interface ClusterStoreOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly secretName: string;
  /** Informer of the SlurmJobs of the namespace; it has synced. */
  readonly informer: Informer<StoredJob>;
}

/** Number of files in one page of a list; each may have 700 kB. */
const pageSize = 8;

export class ClusterStore implements JobStore {
  readonly #options: ClusterStoreOptions;
  readonly #listeners = new Set<() => void>();

  constructor(options: ClusterStoreOptions) {
    this.#options = options;
    const notify = () => {
      for (const listener of this.#listeners) listener();
    };
    options.informer.addEventHandler({ onAdd: notify, onUpdate: notify, onDelete: notify });
  }

  jobs(): readonly SlurmJob[] {
    const { informer, namespace, secretName } = this.#options;
    return informer.lister.list(namespace).flatMap((job) => {
      const isOurs = job.spec.connection.secretName === secretName;
      const isHeld = job.metadata.finalizers?.includes(slurmFinalizer) ?? false;
      const deleting = isTerminating(job);
      return isOurs && (deleting ? isHeld : !slurmJobEnded(job)) ? [seen(job)] : [];
    });
  }

  onChange(fn: () => void): () => void {
    this.#listeners.add(fn);
    return () => void this.#listeners.delete(fn);
  }

  /**
   * The status is replaced as a whole: fields that the client leaves out are removed. The test of the uid
   * keeps the status of a deleted job out of a new job with the same name.
   */
  async writeStatus(job: SlurmJob, status: SlurmJobStatus): Promise<void> {
    const { client } = this.#options;
    const test = { op: 'test', path: '/metadata/uid', value: job.uid };
    const patch = [test, { op: 'add', path: '/status', value: status }];
    await unlessAnother(job, this.#current(job), () =>
      client.resource(slurmJobResource).patch(job.name, job.namespace, 'json', patch, 'status'),
    );
  }

  async release(job: SlurmJob): Promise<void> {
    const { client } = this.#options;
    await unlessAnother(job, this.#current(job), async ({ metadata }) => {
      const { finalizers = [], resourceVersion, uid } = metadata;
      if (!isTerminating({ metadata }) || !finalizers.includes(slurmFinalizer)) return;
      const rest = finalizers.filter((name) => name !== slurmFinalizer);
      const body = { metadata: { uid, resourceVersion, finalizers: rest } };
      await client.resource(slurmJobResource).patch(job.name, job.namespace, 'merge', body);
    });
  }

  async readFiles(job: SlurmJob): Promise<readonly SourceFile[]> {
    const { spec } = await this.#options.client
      .resource(slurmJobResource)
      .get(job.name, job.namespace)
      .catch((error: unknown) => {
        if (isNotFound(error)) throw new MissingSource(`SlurmJob ${job.name} is gone`);
        throw error;
      });
    const files = (spec.files ?? []).map(({ path, content, base64 }) => ({
      path,
      data: base64 === undefined ? Buffer.from(content ?? '') : Buffer.from(base64, 'base64'),
    }));
    // Files in the object take precedence over those from a ConfigMap.
    const all = new Map<string, Uint8Array>();
    for (const { configMapName, path } of spec.filesFrom ?? [])
      for (const [key, data] of entriesOf(await this.#configMap(job, configMapName)))
        all.set(path === undefined ? key : `${path}/${key}`, data);
    for (const { path, data } of files) all.set(path, data);
    return [...all].map(([path, data]) => ({ path, data }));
  }

  async storedFiles(job: SlurmJob): Promise<readonly StoredFile[]> {
    const chunks: SlurmFile['spec'][] = [];
    let after: string | undefined;
    do {
      const list = await this.#options.client.resource(slurmFileResource).list({
        namespace: job.namespace,
        fieldSelector: `spec.jobUID=${job.uid}`,
        limit: pageSize,
        ...(after && { continue: after }),
      });
      // The bytes of the files are not kept.
      chunks.push(...list.items.map(({ spec }) => ({ ...spec, data: '' })));
      after = list.metadata.continue || undefined;
    } while (after);
    return storedLengths(chunks);
  }

  async appendFile(job: SlurmJob, file: FileName, offset: number, bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    if (bytes.length > maxSlurmChunk) throw new RangeError(`a chunk has at most ${maxSlurmChunk} bytes`);
    try {
      await this.#options.client.resource(slurmFileResource).create({
        apiVersion: 'minik8s.io/v1',
        kind: 'SlurmFile',
        metadata: {
          name: chunkName(job, file, offset),
          namespace: job.namespace,
          ownerReferences: [
            { apiVersion: apiVersionOf(slurmJobResource), kind: 'SlurmJob', name: job.name, uid: job.uid },
          ],
        },
        spec: {
          ...{ job: job.name, jobUID: job.uid, kind: file.kind, path: file.path, offset },
          length: bytes.length,
          data: Buffer.from(bytes).toString('base64'),
        },
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #current({ name, namespace }: SlurmJob): Promise<StoredJob | undefined> {
    try {
      return await this.#options.client.resource(slurmJobResource).get(name, namespace);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #configMap(job: SlurmJob, name: string): Promise<ConfigMap> {
    try {
      return await this.#options.client.resource(configMapResource).get(name, job.namespace);
    } catch (error) {
      if (isNotFound(error)) throw new MissingSource(`ConfigMap ${JSON.stringify(name)} is not there`);
      throw error;
    }
  }
}

/** Calls `write` with the stored job. Does nothing if the job is gone, or if another job has its name. */
async function unlessAnother(
  { uid }: SlurmJob,
  current: Promise<StoredJob | undefined>,
  write: (job: StoredJob) => Promise<unknown>,
): Promise<void> {
  const job = await current;
  if (job?.metadata.uid !== uid) return;
  try {
    await write(job);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function seen(job: StoredJob): SlurmJob {
  const { name, namespace = '', uid } = job.metadata;
  // Only the client writes a status, whose type is narrower here.
  const status = job.status?.phase === undefined ? undefined : (job.status as SlurmJobStatus);
  return { name, namespace, uid, spec: job.spec, status, deleting: isTerminating(job) };
}

function* entriesOf({ data = {}, binaryData = {} }: ConfigMap): Generator<[string, Uint8Array]> {
  for (const [key, text] of Object.entries(data)) yield [key, Buffer.from(text)];
  for (const [key, text] of Object.entries(binaryData)) yield [key, Buffer.from(text, 'base64')];
}

/** The same piece always has the same name, so it is created only once. */
const chunkName = ({ name, uid }: SlurmJob, { kind, path }: FileName, offset: number) => {
  const hash = createHash('sha256')
    .update(JSON.stringify([uid, kind, path]))
    .digest('hex')
    .slice(0, 16);
  return `${name.slice(0, 40)}-${hash}-${String(offset).padStart(10, '0')}`;
};

/** Returns the stored length of each file, counted from its beginning: data after a gap is ignored. */
export function storedLengths(
  chunks: readonly Pick<SlurmFile['spec'], 'kind' | 'path' | 'offset' | 'length'>[],
): readonly StoredFile[] {
  const files = Map.groupBy(chunks, ({ kind, path }) => JSON.stringify([kind, path]));
  return [...files.values()].flatMap(([first, ...more]) => {
    if (!first) return [];
    const { kind, path } = first;
    let length = 0;
    for (const chunk of [first, ...more].toSorted((a, b) => a.offset - b.offset))
      if (chunk.offset <= length) length = Math.max(length, chunk.offset + chunk.length);
    return [{ kind, path, length }];
  });
}
