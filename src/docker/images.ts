/** Images of the engine: whether it has one, and fetching it. */
import { call, unlessGone } from './call.ts';
import type { Docker } from './client.ts';
import { RuntimeError } from './runtime-error.ts';
import { jsonLines } from './streams.ts';

/** One line of a progress stream; `error` is deprecated since API 1.48, to be left empty or out. */
interface ProgressLine {
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string };
}

/** Undefined when the engine does not have it. */
export function inspectImage(docker: Docker, name: string): Promise<Docker.ImageInspectInfo | undefined> {
  return unlessGone(call(`inspect image ${name}`, () => docker.getImage(name).inspect()));
}

/** Rejects with a RuntimeError of reason PullFailed; a name without a tag means `latest`. */
export async function pullImage(docker: Docker, name: string, signal: AbortSignal): Promise<void> {
  const doing = `pull ${name}`;
  const options = { abortSignal: signal };
  const answer = await call(doing, () => docker.pull(withTag(name), options), 'PullFailed');
  await drain(answer as AsyncIterable<Uint8Array>, doing);
}

/** Reads a progress stream to its end; an error in it is how Docker says that the work failed. */
export async function drain(stream: AsyncIterable<Uint8Array>, doing: string): Promise<void> {
  for await (const line of jsonLines(stream)) {
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
