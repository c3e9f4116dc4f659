/** What a container that ended left to say of why: the file it wrote, or the end of its log where the pod wants that. */
import { findContainer } from '../../api/core/v1/ephemeral-containers.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import type { ContainerState } from '../runtime/runtime.ts';
import type { ExecuteContext } from './execute.ts';

/** Of a log. */
const most = { lines: 80, bytes: 2048 };

/** Empty when it left nothing. `pod`: as far as it is known. */
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
