/** Images of the engine: inspecting, pulling and removing them. */
import type { Clock } from '../base/clock.ts';
import { call, unlessGone } from './call.ts';
import type { Docker } from './client.ts';
import { RuntimeError } from './runtime-error.ts';
import { jsonLines } from './streams.ts';

/** One line of a progress stream; `error` is deprecated since API 1.48 and may be empty or missing. */
export interface ProgressLine {
  /** Id of the subject, such as a layer. */
  readonly id?: string;
  readonly status?: string;
  /** Bytes. */
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string };
}

/** Returns undefined when the engine does not have the image. */
export function inspectImage(docker: Docker, name: string): Promise<Docker.ImageInspectInfo | undefined> {
  return unlessGone(call(`inspect image ${name}`, () => docker.getImage(name).inspect()));
}

export interface PullOptions {
  readonly signal: AbortSignal;
  /**
   * Enables a timeout: the pull is aborted when the engine reports no progress for a minute, because others
   * wait for its place.
   */
  readonly clock?: Clock;
  /** Called for each line as it arrives. */
  readonly onLine?: (line: ProgressLine) => void;
  /** Credentials: both or none. */
  readonly username?: string;
  readonly password?: string;
}

const silenceMs = 60_000;

/** Pulls an image; a name without a tag means `latest`. Rejects with a RuntimeError of reason PullFailed. */
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
    const engineMessage = `no data arrived for ${silenceMs / 1000} seconds`;
    throw new RuntimeError('PullFailed', `Docker cannot ${doing}: ${engineMessage}`, {
      engineMessage,
      cause: error,
    });
  } finally {
    timer?.cancel();
  }
}

/**
 * Returns the ids of images that a container was created from or mounts, for all owners, whether or not it
 * runs.
 */
export async function usedImages(docker: Docker): Promise<ReadonlySet<string>> {
  const found = await call('list containers', () => docker.listContainers({ all: true }));
  const mounts = found.flatMap(({ Mounts }) => Mounts ?? []);
  // Mounted images have the names of the containers' requests.
  const mounted = new Set(mounts.flatMap(({ Type, Name }) => (Type === 'image' && Name) || []));
  const ids = await Promise.all(
    [...mounted].map(async (name) => (await inspectImage(docker, name))?.Id ?? []),
  );
  return new Set([...found.map(({ ImageID }) => ImageID), ...ids.flat()]);
}

/**
 * Removes a name of an image; the image is removed with its last name. Resolves when there is no such name.
 */
export async function removeImage(docker: Docker, name: string): Promise<void> {
  try {
    await call(`remove image ${name}`, () => docker.getImage(name).remove());
  } catch (error) {
    if (!(error instanceof RuntimeError && error.reason === 'NotFound')) throw error;
  }
}

/** Reads a progress stream to its end; an error in it is how Docker reports that the operation failed. */
export async function drain(
  stream: AsyncIterable<Uint8Array>,
  doing: string,
  onProgress: (line: ProgressLine) => void = () => {},
): Promise<void> {
  for await (const line of jsonLines(stream)) {
    onProgress(line as ProgressLine);
    const { error, errorDetail } = line as ProgressLine;
    if (error === undefined && errorDetail === undefined) continue;
    const engineMessage = error || errorDetail?.message || 'it reports no reason';
    throw new RuntimeError('PullFailed', `Docker cannot ${doing}: ${engineMessage}`, { engineMessage });
  }
}

/** Adds the tag `latest`, because Docker takes a name without a tag for all of its tags. */
function withTag(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? name : `${name}:latest`;
}
