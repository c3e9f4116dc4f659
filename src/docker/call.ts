/** Calls of the Docker API whose failures become RuntimeErrors. */
import { RuntimeError, type RuntimeErrorReason } from './runtime-error.ts';

interface DockerFailure {
  readonly statusCode?: number;
  readonly code?: string;
  readonly syscall?: string;
  readonly message?: string;
  readonly json?: { readonly message?: string };
}

/** Runs one call; a failure becomes a RuntimeError whose message names the operation. */
export async function call<T>(
  doing: string,
  request: () => Promise<T>,
  otherwise: RuntimeErrorReason = 'Failed',
): Promise<T> {
  try {
    return await request();
  } catch (error) {
    const failure = error as DockerFailure;
    const answer = answerOf(failure);
    const text = answer ?? notRunning(failure) ?? failure.message ?? String(error);
    // Docker's own message is shown in full; dockerode's error only repeats it in other words.
    throw new RuntimeError(
      reasonOf(failure, otherwise),
      `Docker cannot ${doing}: ${text.trim()}`,
      answer === undefined ? { cause: error } : { engineMessage: answer.trim() },
    );
  }
}

/** Returns the message for a socket without a listener, with the remedy; undefined for another failure. */
function notRunning({ code, syscall, message }: DockerFailure): string | undefined {
  if (syscall !== 'connect' || (code !== 'ENOENT' && code !== 'ECONNREFUSED')) return undefined;
  return `it does not run (${message}); start it on the node (systemctl start docker, or dockerd)`;
}

/** Returns the engine's message; undefined when there was no answer. */
function answerOf({ json, statusCode, message }: DockerFailure): string | undefined {
  if (json?.message !== undefined) return json.message;
  // The engine's message about a stream, such as a pull, is only in the message of dockerode's own error.
  return statusCode === undefined ? undefined : message?.replace(/^\(HTTP code \d+\) .*? - /, '');
}

function reasonOf({ statusCode }: DockerFailure, otherwise: RuntimeErrorReason): RuntimeErrorReason {
  if (statusCode === undefined) return 'Unavailable';
  if (otherwise !== 'Failed') return otherwise;
  if (statusCode === 404) return 'NotFound';
  return statusCode === 409 ? 'Conflict' : 'Failed';
}

/** Resolves with undefined for an object that is gone, or is not in the state that the call requires. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    // Conflict: the container no longer runs, or is being removed already.
    if (error instanceof RuntimeError && (error.reason === 'NotFound' || error.reason === 'Conflict')) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Passes a stream on. A stream that the signal aborted just ends; any other failure means that the engine is
 * unreachable.
 */
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
