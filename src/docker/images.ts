/** Images of the engine: whether it has one, and fetching it. */
import type { Clock } from '../base/clock.ts';
import { call, unlessGone } from './call.ts';
import type { Docker } from './client.ts';
import { RuntimeError } from './runtime-error.ts';
import { jsonLines } from './streams.ts';

/** One line of a progress stream; `error` is deprecated since API 1.48, to be left empty or out. */
export interface ProgressLine {
  /** What it is about, such as a layer. */
  readonly id?: string;
  readonly status?: string;
  /** Bytes. */
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string };
}

/** Undefined when the engine does not have it. */
export function inspectImage(docker: Docker, name: string): Promise<Docker.ImageInspectInfo | undefined> {
  return unlessGone(call(`inspect image ${name}`, () => docker.getImage(name).inspect()));
}

export interface PullOptions {
  readonly signal: AbortSignal;
  /** With it the pull is given up when the engine says nothing of it for a minute: others wait for its place. */
  readonly clock?: Clock;
  /** Told of each line as it comes. */
  readonly onLine?: (line: ProgressLine) => void;
  /** Both or none. */
  readonly username?: string;
  readonly password?: string;
}

const silenceMs = 60_000;

/** Rejects with a RuntimeError of reason PullFailed; a name without a tag means `latest`. */
export async function pullImage(docker: Docker, name: string, options: PullOptions): Promise<void> {
  const { signal, clock, onLine, username, password } = options;
  const doing = `pull ${name}`;
  const silent = new AbortController();
  const listen = () => clock?.after(silenceMs, () => silent.abort());
  let timer = listen();
  const onProgress = (line: ProgressLine) => {
    timer?.cancel();
    timer = listen();
    onLine?.(line);
  };
  const query = {
    abortSignal: AbortSignal.any([signal, silent.signal]),
    ...(username !== undefined && { authconfig: { username, password } }),
  };
  try {
    const answer = await call(doing, () => docker.pull(withTag(name), query), 'PullFailed');
    await drain(answer as AsyncIterable<Uint8Array>, doing, onProgress);
  } catch (error) {
    if (!silent.signal.aborted) throw error;
    const said = `nothing of it came for ${silenceMs / 1000} seconds`;
    throw new RuntimeError('PullFailed', `Docker cannot ${doing}: ${said}`, { said, cause: error });
  } finally {
    timer?.cancel();
  }
}

/** The ids of those that a container is made of or mounts, whoever's it is, and whether or not it runs. */
export async function usedImages(docker: Docker): Promise<ReadonlySet<string>> {
  const found = await call('list containers', () => docker.listContainers({ all: true }));
  const mounts = found.flatMap(({ Mounts }) => Mounts ?? []);
  // By the names that the containers' requests had.
  const mounted = new Set(mounts.flatMap(({ Type, Name }) => (Type === 'image' && Name) || []));
  const ids = await Promise.all(
    [...mounted].map(async (name) => (await inspectImage(docker, name))?.Id ?? []),
  );
  return new Set([...found.map(({ ImageID }) => ImageID), ...ids.flat()]);
}

/** Takes a name off an image, which goes with its last one; resolves when there is no such name. */
export async function removeImage(docker: Docker, name: string): Promise<void> {
  try {
    await call(`remove image ${name}`, () => docker.getImage(name).remove());
  } catch (error) {
    if (!(error instanceof RuntimeError && error.reason === 'NotFound')) throw error;
  }
}

/** Reads a progress stream to its end; an error in it is how Docker says that the work failed. */
export async function drain(
  stream: AsyncIterable<Uint8Array>,
  doing: string,
  onProgress: (line: ProgressLine) => void = () => {},
): Promise<void> {
  for await (const line of jsonLines(stream)) {
    onProgress(line as ProgressLine);
    const { error, errorDetail } = line as ProgressLine;
    if (error === undefined && errorDetail === undefined) continue;
    const said = error || errorDetail?.message || 'it does not say why';
    throw new RuntimeError('PullFailed', `Docker cannot ${doing}: ${said}`, { said });
  }
}

/** Docker takes a name without a tag for all tags of it. */
function withTag(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? name : `${name}:latest`;
}
