/** Calls of the Docker API, with their failures as RuntimeErrors. */
import { RuntimeError, type RuntimeErrorReason } from './runtime-error.ts';

interface DockerFailure {
  readonly statusCode?: number;
  readonly code?: string;
  readonly message?: string;
  readonly json?: { readonly message?: string };
}

/** Runs one call and turns its failure into a RuntimeError that says what was tried. */
export async function call<T>(
  doing: string,
  request: () => Promise<T>,
  otherwise: RuntimeErrorReason = 'Failed',
): Promise<T> {
  try {
    return await request();
  } catch (error) {
    const failure = error as DockerFailure;
    const said = engineSaid(failure);
    const text = said ?? failure.message ?? String(error);
    // Docker's own answer is shown in full; dockerode's error only repeats it in other words.
    throw new RuntimeError(
      reasonOf(failure, otherwise),
      `Docker cannot ${doing}: ${text.trim()}`,
      said === undefined ? { cause: error } : { said: said.trim() },
    );
  }
}

/** What the engine answered; undefined when there was no answer. */
function engineSaid({ json, statusCode, message }: DockerFailure): string | undefined {
  if (json?.message !== undefined) return json.message;
  // Of a stream, as a pull is, dockerode has it in its own message alone.
  return statusCode === undefined ? undefined : message?.replace(/^\(HTTP code \d+\) .*? - /, '');
}

function reasonOf({ statusCode }: DockerFailure, otherwise: RuntimeErrorReason): RuntimeErrorReason {
  if (statusCode === undefined) return 'Unavailable';
  if (otherwise !== 'Failed') return otherwise;
  if (statusCode === 404) return 'NotFound';
  return statusCode === 409 ? 'Conflict' : 'Failed';
}

/** Undefined for an object that is gone, or is not in the state the call is for. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    // A conflict: the container is not running any more, or is being removed already.
    if (error instanceof RuntimeError && (error.reason === 'NotFound' || error.reason === 'Conflict')) {
      return undefined;
    }
    throw error;
  }
}

/** A stream that was ended on purpose has ended; one that broke is the engine going away. */
export async function* untilAborted(
  stream: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    if (signal.aborted) return;
    throw new RuntimeError('Unavailable', 'Docker closed the connection', { cause: error });
  }
}
