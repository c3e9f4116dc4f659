/** Copies the files of a job from the host to the cluster. */
import { tryParseQuantity } from '../../../apimachinery/quantity.ts';
import { controlFolder } from './batch-script.ts';
import { chooseResults } from './choose-results.ts';
import { listedFiles, lookedAt } from './host-answers.ts';
import { folderGone, listScript, lookScript } from './host-scripts.ts';
import { type JobEntry, nothingLooked } from './job-entry.ts';
import type { FileName, JobStore } from './job-store.ts';
import type { LoginHost } from './login-host.ts';
import { nextPiece, type Piece } from './output-plan.ts';
import type { DroppedFile, FetchedFile } from './slurm-job.ts';
import { UnreadableFile } from './ssh.ts';

/** Maximum bytes of output and error of all tasks of a job. */
const maxOutput = 4 * 1024 * 1024;
const minOfTask = 16 * 1024;
const maxBuildLog = 256 * 1024;
const defaultResults = 16 * 1024 * 1024;

export interface Fetched {
  readonly files: readonly FetchedFile[];
  readonly dropped: readonly DroppedFile[];
  /** True if the work folder does not exist. */
  readonly gone: boolean;
}

export class JobFiles {
  readonly #host: LoginHost;
  readonly #store: JobStore;

  constructor(host: LoginHost, store: JobStore) {
    this.#host = host;
    this.#store = store;
  }

  /**
   * Copies new output and error. Returns the files that were dropped for lack of space and the unreadable
   * files, which are known only after the end of the job.
   */
  async copyOutput(entry: JobEntry, atEnd: boolean): Promise<readonly DroppedFile[]> {
    const { sizes } = entry.looked;
    const streams = [...sizes]
      .filter(([name]) => name !== 'build.log')
      .sort(([a], [b]) => collator.compare(a, b));
    const share = Math.max(minOfTask, Math.floor(maxOutput / Math.max(2, streams.length)));
    const room = Math.floor(maxOutput / share);
    const unread: DroppedFile[] = [];
    for (const [path, size] of streams.slice(0, room)) {
      // The number of streams is unknown while tasks of an array have not begun.
      const limit = atEnd || entry.job.spec.array === undefined ? share : minOfTask;
      const kind = path.startsWith('stdout') ? 'Output' : 'Error';
      const below = `${controlFolder}/${path}`;
      const { why } = await this.#copy(entry, { kind, path }, below, { size, limit, atEnd });
      if (why !== undefined) unread.push({ path: below, size, reason: why });
    }
    if (!atEnd) return [];
    const surplus = streams.slice(room).map(([path, size]) => ({
      path: `${controlFolder}/${path}`,
      size,
      reason: 'output of too many tasks',
    }));
    return [...unread, ...surplus];
  }

  async fetch(entry: JobEntry): Promise<Fetched> {
    const { job, status } = entry;
    const { workDir } = status;
    if (workDir === undefined) return { files: [], dropped: [], gone: false };
    const looked = await this.#host.run('ask', lookScript([{ id: status.jobID ?? '', folder: workDir }]));
    entry.looked = lookedAt(looked.stdout).get(workDir) ?? nothingLooked;
    const listed = await this.#host.run('ask', listScript(workDir));
    if (listed.code === folderGone) return { files: [], dropped: [], gone: true };
    if (listed.code !== 0) throw new Error(`cannot list ${workDir}: ${listed.stderr.trim()}`);
    const lost = await this.copyOutput(entry, true);
    await this.#copyBuildLog(entry);
    const limit = tryParseQuantity(job.spec.resultsLimit ?? defaultResults)?.nano ?? 0n;
    const chosen = chooseResults(
      listedFiles(listed.stdout),
      job.spec.results ?? [],
      Number(limit / 1_000_000_000n),
    );
    const { files, unread } = await this.#copyResults(entry, chosen.fetched);
    return { files, dropped: [...chosen.dropped, ...unread, ...lost], gone: false };
  }

  async #copyBuildLog(entry: JobEntry): Promise<void> {
    const size = entry.looked.sizes.get('build.log');
    if (size === undefined) return;
    const all = { size, limit: maxBuildLog, atEnd: true };
    await this.#copy(entry, { kind: 'Build', path: 'build.log' }, `${controlFolder}/build.log`, all);
  }

  async #copyResults(entry: JobEntry, chosen: readonly FetchedFile[]) {
    const [files, unread]: [FetchedFile[], DroppedFile[]] = [[], []];
    for (const { path, size } of chosen) {
      const whole = { size, limit: Number.POSITIVE_INFINITY, atEnd: true };
      const { why, length } = await this.#copy(entry, { kind: 'Result', path }, path, whole);
      if (why !== undefined) unread.push({ path, size, reason: why });
      // The file may have become shorter since it was listed.
      else files.push({ path, size: length });
    }
    return { files, unread };
  }

  /** Copies a file. Returns the stored length, and the reason if the rest cannot be read. */
  async #copy(
    entry: JobEntry,
    file: FileName,
    below: string,
    { size, limit, atEnd }: { readonly size: number; readonly limit: number; readonly atEnd: boolean },
  ): Promise<{ readonly length: number; readonly why?: string }> {
    const stored = await this.#stored(entry);
    const key = `${file.kind}/${file.path}`;
    for (;;) {
      const offset = stored.get(key) ?? 0;
      const piece = nextPiece(size, offset, limit, atEnd);
      if (piece === undefined) return { length: offset };
      const bytes = await this.#bytes(entry, below, piece).catch((error: unknown) => {
        if (error instanceof UnreadableFile) return error;
        throw error;
      });
      if (bytes instanceof UnreadableFile) return { length: offset, why: `cannot be read: ${bytes.message}` };
      if (bytes.length === 0) return { length: offset };
      await this.#store.appendFile(entry.job, file, offset, bytes);
      stored.set(key, offset + bytes.length);
    }
  }

  async #bytes({ status }: JobEntry, below: string, piece: Piece): Promise<Uint8Array> {
    if ('text' in piece) return Buffer.from(piece.text);
    return this.#host.read(`${status.workDir}/${below}`, piece.from, piece.to - piece.from);
  }

  async #stored(entry: JobEntry): Promise<Map<string, number>> {
    entry.stored ??= new Map(
      (await this.#store.storedFiles(entry.job)).map(({ kind, path, length }) => [`${kind}/${path}`, length]),
    );
    return entry.stored;
  }
}

const collator = new Intl.Collator('en', { numeric: true });
