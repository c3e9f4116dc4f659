/** Attaching to a debugging container as soon as it runs. */

import type { JsonObject } from '../../apimachinery/equality.ts';
import { beginWork } from '../../terminal/live-lines.ts';
import { follow } from '../objects/follow.ts';
import type { ObjectTarget } from '../objects/object-target.ts';
import { hasEnded, textAt } from '../objects/objects.ts';
import type { Pod } from '../objects/pods.ts';
import { attachOrLog, printContainerLog } from '../streaming/attach.ts';
import type { VerbContext } from '../verb.ts';
import { stateOf } from './debug-plan.ts';

/** Attaches once the program runs; if it has ended already, prints its log. Rejects if it cannot run. */
export async function attachWhenStarted(
  context: VerbContext,
  { target }: Pick<Pod, 'target'>,
  container: string,
): Promise<void> {
  const object = await untilStarted(context, target, container);
  const pod = { target, object };
  const terminated = stateOf(object, container)?.terminated;
  if (textAt(terminated, 'reason') === 'ContainerCannotRun')
    throw new Error(
      `container ${container} of pod ${target.name} cannot run: ${textAt(terminated, 'message')}`,
    );
  if (terminated !== undefined) await printContainerLog(context, pod, container);
  else await attachOrLog(context, pod, container);
}

/** Resolves to the pod once the container runs or has ended. Rejects if it will not start any more. */
async function untilStarted(
  { io, flags, cluster }: VerbContext,
  target: ObjectTarget,
  container: string,
): Promise<JsonObject> {
  const shown = new Set(['']);
  const warn = (message: string) => {
    if (!shown.has(message) && !flags.on('quiet')) io.err(`Warning: container ${container}: ${message}\n`);
    shown.add(message);
  };
  using work = beginWork(io.progress, `container ${container} of pod/${target.name}`);
  for await (const pod of follow(cluster(), target, { clock: io.clock, timeoutMs: undefined })) {
    if (!pod) throw new Error(`pod ${target.name} was deleted before container ${container} started`);
    const state = stateOf(pod, container);
    if (hasStarted(state)) return pod;
    if (hasEnded(pod)) throw new Error(`pod ${target.name} ended before container ${container} started`);
    work.say(textAt(state, 'waiting', 'reason') || 'not reported yet');
    warn(textAt(state, 'waiting', 'message'));
  }
  throw new Error(`the watch of pod ${target.name} ended before container ${container} started`);
}

const hasStarted = (state: JsonObject | undefined) =>
  state?.running !== undefined || state?.terminated !== undefined;
