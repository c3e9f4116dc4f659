/** Output and results of a SlurmJob: the output as it arrives, the results as files. */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { onAbort } from '../../../base/abort.ts';
import type { Cluster } from '../../../cli/connection/cluster.ts';
import type { Io } from '../../../cli/io.ts';
import { findResource } from '../../../cli/objects/discovery.ts';
import { follow, followAll } from '../../../cli/objects/follow.ts';
import { type CollectionTarget, type ObjectTarget, targetPath } from '../../../cli/objects/object-target.ts';
import { metadataOf, numberAt, recordsAt, textAt } from '../../../cli/objects/objects.ts';
import { pages } from '../../../cli/objects/pages.ts';
import { stateText } from '../../../cli/progress/object-progress.ts';
import { beginWork } from '../../../terminal/live-lines.ts';

const ends: readonly string[] = ['Succeeded', 'Failed', 'Canceled'];
export const hasEnded = (job: JsonObject): boolean => ends.includes(textAt(job, 'status', 'phase'));

/** Number of pieces per page; each may have 700 kB. */
const pageSize = 8;

async function piecesOf(cluster: Cluster, job: JsonObject, which: string): Promise<CollectionTarget> {
  const { uid, namespace } = metadataOf(job);
  const resource = findResource(await cluster.resources(), 'slurmfiles.v1.minik8s.io');
  const fieldSelector = `spec.jobUID=${uid},${which}`;
  return { resource, namespace, labelSelector: undefined, fieldSelector };
}

async function* listed(cluster: Cluster, collection: CollectionTarget): AsyncGenerator<JsonObject> {
  for await (const page of pages(cluster, collection, { limit: pageSize })) yield* recordsAt(page, 'items');
}

const bytesOf = (piece: JsonObject) => Buffer.from(textAt(piece, 'spec', 'data'), 'base64');

/**
 * Prints each piece of a file once, in order, as text: standard output to the output, everything else to the
 * errors.
 */
class OutputPrinter {
  readonly #io: Io;
  readonly #isWanted: (path: string, kind: string) => boolean;
  readonly #files = new Map<string, { printed: number; readonly decoder: TextDecoder }>();

  /**
   * `file` is stdout, stderr, build.log or the file of an array's task; undefined for all output and errors.
   */
  constructor(io: Io, file: string | undefined) {
    this.#io = io;
    this.#isWanted = (path, kind) => (file === undefined ? kind !== 'Build' : path === file);
  }

  get isEmpty(): boolean {
    return this.#files.size === 0;
  }

  print(pieces: Iterable<JsonObject>): void {
    const inOrder = [...pieces].toSorted(
      (a, b) => numberAt(a, 'spec', 'offset') - numberAt(b, 'spec', 'offset'),
    );
    for (const piece of inOrder) {
      const [path, kind] = [textAt(piece, 'spec', 'path'), textAt(piece, 'spec', 'kind')];
      if (!this.#isWanted(path, kind)) continue;
      const file = this.#files.get(path) ?? { printed: 0, decoder: new TextDecoder() };
      this.#files.set(path, file);
      const bytes = bytesOf(piece);
      if (numberAt(piece, 'spec', 'offset') !== file.printed) continue;
      file.printed += bytes.length;
      const text = file.decoder.decode(bytes, { stream: true });
      if (kind === 'Error' && path.startsWith('stderr')) this.#io.err(text);
      else this.#io.out(text);
    }
  }
}

export interface LogOptions {
  readonly file: string | undefined;
  readonly following: boolean;
}

/** Prints the output of a job. Rejects at the end if the named file does not exist. */
export async function printSlurmLog(
  io: Io,
  cluster: Cluster,
  target: ObjectTarget,
  { file, following }: LogOptions,
): Promise<void> {
  const job = await cluster.get(targetPath(target));
  const collection = await piecesOf(cluster, job, 'spec.kind!=Result');
  const printer = new OutputPrinter(io, file);
  if (following) {
    const over = new AbortController();
    const watching = watchEnd(io, cluster, target, job).finally(() => over.abort());
    // The promise is awaited below, but may reject earlier.
    watching.catch(() => undefined);
    const options = { clock: io.clock, timeoutMs: undefined, signal: over.signal };
    try {
      for await (const pieces of followAll(cluster, collection, options)) printer.print(pieces.values());
    } finally {
      await watching;
    }
  }
  // The Slurm client writes the last piece before it reports the end of the job.
  const rest: JsonObject[] = [];
  for await (const piece of listed(cluster, collection)) rest.push(piece);
  printer.print(rest);
  if (file !== undefined && printer.isEmpty) throw new Error(`slurmjob/${target.name} has no ${file}`);
}

/** Resolves when the job has no more output; rejects when the job is deleted. */
async function watchEnd(io: Io, cluster: Cluster, target: ObjectTarget, job: JsonObject): Promise<void> {
  const { uid } = metadataOf(job);
  using work = beginWork(io.progress, `slurmjob/${target.name}`);
  const over = new AbortController();
  const unlink = onAbort(io.signal, () => over.abort());
  try {
    const options = { clock: io.clock, timeoutMs: undefined, signal: over.signal };
    for await (const now of follow(cluster, target, options)) {
      if (!now || metadataOf(now).uid !== uid) throw new Error(`slurmjob/${target.name} was deleted`);
      if (hasEnded(now)) return;
      work.say(stateText(now));
    }
  } finally {
    unlink();
  }
}

/** Writes the results of a job below a folder, and returns their paths. Existing files are replaced. */
export async function writeResults(cluster: Cluster, job: JsonObject, folder: string): Promise<string[]> {
  const sizes = new Map(
    recordsAt(job, 'status', 'files').map((file) => [
      checkedPath(textAt(file, 'path')),
      numberAt(file, 'size'),
    ]),
  );
  const written = new Map([...sizes.keys()].map((path) => [path, 0]));
  const collection = await piecesOf(cluster, job, 'spec.kind=Result');
  for (const path of sizes.keys()) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await using _ = await open(join(folder, path), 'w');
  }
  for await (const piece of listed(cluster, collection)) {
    const path = checkedPath(textAt(piece, 'spec', 'path'));
    if (!sizes.has(path)) continue;
    await using file: FileHandle = await open(join(folder, path), 'r+');
    const bytes = bytesOf(piece);
    await file.write(bytes, 0, bytes.length, numberAt(piece, 'spec', 'offset'));
    written.set(path, (written.get(path) ?? 0) + bytes.length);
  }
  for (const [path, size] of sizes)
    if (written.get(path) !== size)
      throw new Error(
        `${join(folder, path)} is incomplete: the cluster has ${written.get(path)} of ${size} bytes`,
      );
  return [...sizes.keys()];
}

/** The server has checked the path, but a path from a server is checked again before it is written. */
function checkedPath(path: string): string {
  const isBelow = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isBelow || path.includes('\0'))
    throw new Error(`${JSON.stringify(path)} is not a path below a folder`);
  return path;
}
