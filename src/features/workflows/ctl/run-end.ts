/** The end of a run of a workflow, for commands that wait for it. */
import { stringsAt } from '../../../cli/describe/lines.ts';
import { follow } from '../../../cli/objects/follow.ts';
import { type ObjectTarget, targetPath } from '../../../cli/objects/object-target.ts';
import { textAt, valueAt } from '../../../cli/objects/objects.ts';
import type { VerbContext } from '../../../cli/verb.ts';
import { beginWork } from '../../../terminal/live-lines.ts';

/** Prints the output of the run once it has ended; rejects with its error. */
export async function printEnd({ io, flags, cluster }: VerbContext, target: ObjectTarget): Promise<void> {
  const timeoutMs = flags.duration('wait-timeout');
  // A run that does not exist is reported as not found, which differs from a run that was deleted meanwhile.
  await cluster().get(targetPath(target));
  using work = beginWork(io.progress, `workflowrun/${target.name}`);
  for await (const object of follow(cluster(), target, { clock: io.clock, timeoutMs, signal: io.signal })) {
    if (!object) throw new Error(`workflowrun/${target.name} was deleted`);
    const phase = textAt(object, 'status', 'phase');
    if (phase === 'Succeeded') return printJson(io, valueAt(object, 'status', 'output') ?? null);
    if (isOver(phase)) throw new Error(`workflowrun/${target.name} ${endOf(phase, object)}`);
    work.say(stringsAt(object, 'status', 'currentStates').join(', ') || phase);
  }
  throw new Error(`workflowrun/${target.name} has not ended within the timeout; it continues`);
}

function endOf(phase: string, object: object): string {
  const [error, cause] = [textAt(object, 'status', 'error'), textAt(object, 'status', 'cause')];
  const why = [error, cause].filter((text) => text !== '').join(': ');
  return `${ends[phase] ?? phase}${why && `: ${why}`}`;
}

/** Returns whether a phase is the end of a run. */
export const isOver = (phase: string) => !['', 'Pending', 'Running'].includes(phase);

/** Ends of runs other than success, in words. */
export const ends: Readonly<Record<string, string>> = {
  Failed: 'has failed',
  Aborted: 'was stopped',
  TimedOut: 'took too long',
};

export const printJson = (io: VerbContext['io'], value: unknown) =>
  io.out(`${JSON.stringify(value, null, 2)}\n`);
