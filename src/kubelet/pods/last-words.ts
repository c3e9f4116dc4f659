/**
 * Termination message of a container: from the file that it wrote, or from the end of its log where the pod
 * requests that.
 */
import { findContainer } from '../../api/core/v1/container/ephemeral-containers.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { ContainerState } from '../runtime/runtime.ts';
import type { ExecuteContext } from './execute.ts';

/** Maximum taken from a log. */
const most = { lines: 80, bytes: 2048 };

/** Returns the message; '' when there is none. `pod` is undefined when it is not known. */
export async function lastWords(
  { files, runtime }: Pick<ExecuteContext, 'files' | 'runtime'>,
  pod: Pod | undefined,
  { id, name, exitCode, terminationMessageFile }: ContainerState,
  signal: AbortSignal,
): Promise<string> {
  const message = await files.readTerminationMessage(terminationMessageFile);
  const policy = pod && findContainer(pod.spec, name)?.terminationMessagePolicy;
  if (message !== '' || policy !== 'FallbackToLogsOnError' || exitCode === 0) return message;
  const options = { follow: false, timestamps: false, tailLines: most.lines, since: undefined };
  const chunks: Uint8Array[] = [];
  for await (const chunk of await runtime.logs(id, options, signal)) chunks.push(chunk);
  return Buffer.concat(chunks).subarray(-most.bytes).toString('utf8');
}
