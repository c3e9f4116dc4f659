/** The end of `ctl run --rm`: what it created is deleted. */

import type { JsonObject } from '../../apimachinery/equality.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import { beginWork } from '../../terminal/live-lines.ts';
import { inContext } from '../errors.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { kindName } from '../objects/discovery.ts';
import { follow } from '../objects/follow.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { cascadeFlag, propagationOf } from '../objects/removal.ts';
import { deletionText } from '../progress/object-progress.ts';
import type { VerbContext } from '../verb.ts';

export const removalFlags = {
  cascade: { ...cascadeFlag.cascade, about: `with --rm: ${cascadeFlag.cascade.about}` },
  'grace-period': {
    type: 'string',
    hint: 'SECONDS',
    about: 'with --rm: seconds given to the pod to terminate gracefully',
    usual: 'the grace period of the pod',
  },
  force: { type: 'boolean', about: 'with --rm: remove at once, without waiting for the pod to stop' },
  wait: { type: 'boolean', about: 'with --rm: wait until the objects are gone' },
  timeout: { type: 'string', hint: 'DURATION', about: 'time to wait', usual: 'no limit' },
} as const satisfies FlagTable;

export interface Removal {
  readonly body: JsonObject;
  readonly waits: boolean;
  readonly timeoutMs: number | undefined;
}

/** Throws UsageError for flags that contradict one another. */
export function removalOf(flags: Flags): Removal {
  const [grace, force] = [flags.whole('grace-period'), flags.on('force')];
  if (force && grace !== undefined && grace > 0)
    throw new UsageError('--force and --grace-period greater than 0 cannot be specified together');
  const seconds = force ? 0 : grace;
  return {
    body: {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      ...propagationOf(flags),
      ...(seconds !== undefined && seconds >= 0 && { gracePeriodSeconds: seconds }),
    },
    waits: flags.on('wait'),
    timeoutMs: flags.duration('timeout'),
  };
}

/**
 * Deletes an object that `run` has created. An object that does not exist any more is no error. The object is
 * also deleted if the command was asked to end, such as by Ctrl-C; a second Ctrl-C leaves it, as the message
 * explains.
 */
export async function removeMade(
  context: VerbContext,
  target: ObjectTarget,
  { body, waits, timeoutMs }: Removal,
): Promise<void> {
  const { io, cluster } = context;
  if (io.signal.aborted) return removeStopped(context, target, body);
  await removeOne(context, target, body);
  if (!waits) return;
  using work = beginWork(io.progress, `${kindName(target.resource)}/${target.name}`);
  for await (const object of follow(cluster(), target, { clock: io.clock, timeoutMs })) {
    if (!object) return;
    work.say(deletionText(object));
  }
  throw new Error(`timed out waiting for ${target.resource.plural}/${target.name} to be deleted`);
}

const nameOf = ({ resource, name }: ObjectTarget) => `${kindName(resource)} "${name}"`;

/** Deletes the object for a command that was asked to end, and reports an object that is left. */
async function removeStopped(context: VerbContext, target: ObjectTarget, body: JsonObject): Promise<void> {
  const { flags, io, report } = context;
  const what = nameOf(target);
  if (!flags.on('quiet')) io.err(`Stopped: deleting ${what}; another Ctrl-C leaves it\n`);
  await removeOne(context, target, body).catch((error) =>
    report(inContext(error, `${what} was not deleted`)),
  );
}

async function removeOne(context: VerbContext, target: ObjectTarget, body: JsonObject): Promise<void> {
  const { flags, io } = context;
  try {
    await sendRemoval(context, targetPath(target), body);
    if (!flags.on('quiet')) io.out(`${nameOf(target)} deleted\n`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Sends the deletion, which an interrupt of the command does not stop. */
async function sendRemoval({ cluster }: VerbContext, path: string, body: JsonObject): Promise<void> {
  const { signal } = new AbortController();
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const request = { method: 'DELETE', path, headers, body: JSON.stringify(body), signal } as const;
  const answer = await cluster().open(request);
  for await (const _part of answer.body);
}
